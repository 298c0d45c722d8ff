/* Measures every page of the site at the widths of a screen and of a phone; the page that loads this script names the pages. */
"use strict";

const WIDTHS = [1280, 400];
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function opened(frame, address) {
  const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
  frame.src = address;
  await loaded;
  const startup = frame.contentWindow.MathJax && frame.contentWindow.MathJax.startup;
  if (startup && startup.promise) await startup.promise;
  return frame.contentDocument;
}

/* What is wrong at the present width: something that widens the page, or a formula that is cut off and does not scroll. */
function faults(frame, name, width) {
  const page = frame.contentDocument;
  const found = [];
  const wider = (what, box) => {
    if (box && box.scrollWidth > box.clientWidth + 1) found.push(`${name} at ${width}: ${what} is ${box.scrollWidth} wide`);
  };
  wider("the page", page.documentElement);
  wider("the text", page.querySelector(".content"));
  const article = page.querySelector("article");
  const right = article ? article.getBoundingClientRect().right : width;
  for (const formula of page.querySelectorAll("article mjx-container")) {
    const box = formula.getBoundingClientRect();
    const scrolls = frame.contentWindow.getComputedStyle(formula).overflowX === "auto";
    const inside = formula.closest("table, pre, .table-wrapper");
    if (!inside && (box.right > right + 1 || (formula.scrollWidth > formula.clientWidth + 1 && !scrolls)))
      found.push(`${name} at ${width}: a formula is cut off (${Math.round(box.width)} wide)`);
    if (formula.querySelector('[data-mml-node="merror"]')) found.push(`${name}: a formula that MathJax does not read`);
  }
  return found;
}

async function check(pages) {
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.style.height = "900px";
  frame.style.border = "0";
  const result = { faults: [], formulas: 0, pages: 0 };
  for (const name of pages) {
    frame.style.width = `${WIDTHS[0]}px`;
    const page = await opened(frame, name);
    result.pages += 1;
    result.formulas += page.querySelectorAll("article mjx-container[display=true]").length;
    for (const width of WIDTHS) {
      frame.style.width = `${width}px`;
      page.body.getBoundingClientRect();
      await pause(20);
      result.faults.push(...faults(frame, name, width));
    }
  }
  frame.style.width = `${WIDTHS[0]}px`;
  const gallery = await opened(frame, "gallery.html");
  result.thumbnails = gallery.querySelectorAll(".thumbnails a img").length;
  result.pictures = gallery.querySelectorAll("a.enlarge img").length;
  gallery.querySelector("a.enlarge").click();
  await pause(50);
  const box = gallery.querySelector("dialog.enlarged[open] img");
  result.enlarged = Boolean(box && box.src.endsWith(".png"));
  gallery.querySelector("dialog.enlarged button").click();
  result.closed = !gallery.querySelector("dialog.enlarged").open;

  const search = await opened(frame, "search.html?q=ridge");
  for (let tries = 0; tries < 100 && !search.querySelector("#search-results p.context"); tries += 1) await pause(50);
  await pause(500);
  const items = [...search.querySelectorAll("#search-results ul.search > li:not(.kind-object, .kind-index)")];
  result.results = items.length;
  result.excerpts = items.filter((item) => item.querySelector("p.context")).length;
  const about = search.querySelector("#search-results p.context");
  result.about = about ? about.textContent : "";
  document.getElementById("result").textContent = JSON.stringify(result);
}
