/* Pictures enlarge where they are, and the search shows excerpts when the pages are read from a folder. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const box = document.createElement("dialog");
  box.className = "enlarged";
  box.innerHTML = '<img alt=""><p><a>The picture alone</a> <button type="button" autofocus>Close</button></p>';
  document.body.append(box);
  box.addEventListener("click", (event) => {
    if (event.target.tagName !== "A") box.close();
  });
  for (const link of document.querySelectorAll("a.enlarge")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const [large, small] = [box.querySelector("img"), link.querySelector("img")];
      large.src = box.querySelector("a").href = link.href;
      large.alt = small.alt;
      box.showModal();
    });
  }
});

/* A page in a folder may not fetch another one, from which the search takes its excerpts: they come from one script. */
if (location.protocol === "file:" && document.querySelector('script[src*="searchtools.js"]')) {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const WIDTH = 240;
  const script = document.createElement("script");
  script.src = document.documentElement.dataset.content_root + "_static/page_texts.js";
  script.addEventListener("load", () => {
    const results = document.getElementById("search-results");
    const asked = new URLSearchParams(location.search).get("q") || "";
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const excerpt = (item) => {
      const link = item.querySelector("a");
      if (!link || item.matches(".kind-object, .kind-index") || item.querySelector("p.context")) return;
      const page = new URL(link.href).pathname.split("/").slice(-3).join("/").replace(/\.html$/, "");
      const name = Object.keys(PAGE_TEXTS).filter((one) => page === one || page.endsWith("/" + one))
        .sort((one, other) => other.length - one.length)[0];
      if (name === undefined) return;
      const text = PAGE_TEXTS[name];
      const title = link.textContent.split(" > ").pop();
      const section = new URL(link.href).hash ? Math.max(0, text.lastIndexOf(title)) : 0;
      const first = (word) => text.toLowerCase().slice(section).search(new RegExp("(?<![\\w.])" + word.replace(/\W/g, "\\$&")));
      const places = words.map(first).filter((place) => place >= 0).map((place) => place + section);
      const before = Math.max(0, Math.min(...(places.length ? places : [0])) - WIDTH / 3);
      const start = before ? text.indexOf(" ", before) + 1 : 0;
      const shown = document.createElement("p");
      shown.className = "context";
      shown.textContent = (start ? "\u2026 " : "") + text.slice(start, start + WIDTH).trim() + " \u2026";
      item.append(shown);
    };
    const all = () => results.querySelectorAll("ul.search > li").forEach(excerpt);
    new MutationObserver(all).observe(results, { childList: true, subtree: true });
    all();
  });
  document.head.append(script);
}
