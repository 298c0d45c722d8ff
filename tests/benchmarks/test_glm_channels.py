"""Saddle points with label channels beside that of a sign teacher, and message passing."""

from simulate.core import stream
from simulate.glm import message_passing
from tests.glm.test_label_channels import problem
from theory import glm
from theory.models import LabelChannel, Logit, Poisson, Probit

SUBJECT = "generalized linear models"


def test_channels(jobs):
    sign, logit = problem("sign", 1.5, 0.1, noise=0.5), problem(Logit(0.5), 1.5, 0.1)
    table = problem(LabelChannel(Probit(0.5).probability), 1.5, 0.1)
    beside = {"a sign teacher, in closed form": lambda: glm.solve(sign).q[0]}
    for what, model in (("a logistic teacher", logit), ("a channel that is a function", table)):
        jobs.compare(f"saddle point of {what}", lambda model=model: glm.solve(model).q[0], beside=beside, goal="0.03 s")


def test_counts(jobs):
    counts = problem(Poisson(), 3.0, 0.1, "poisson", 0.5)
    jobs.compare("saddle point of Poisson counts, 386 labels", lambda: glm.solve(counts).q[0], goal="0.3 s")


def test_message_passing(jobs):
    model = problem(Logit(1.0), 2.0, 0.1)

    def five():
        return [message_passing(model, 2000, stream(0, "bench", r), steps=10).q[-1, 0] for r in range(5)]

    jobs.compare("message passing, 10 steps, p = 2000, 5 sets", five, goal="2 s", rounds=1)
