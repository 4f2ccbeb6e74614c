import pytest
from sardonyx_train.config.training_config import ScheduleConfig
from sardonyx_train.training.schedule import PlateauCounter, compute_factor, compute_progress, count_steps


def _factor(progress, drops=0, step=10_000, **keys):
    return compute_factor(ScheduleConfig(max_steps=1000, **keys), step, progress, drops)


def test_progress_is_the_larger_of_steps_and_clock():
    config = ScheduleConfig(max_steps=1000, max_minutes=10)
    assert compute_progress(config, 100, 5) == 0.5
    assert compute_progress(config, 900, 5) == 0.9
    assert compute_progress(config, 2000, 5) == 1.0


def test_warm_up_rises_linearly_to_one():
    values = [compute_factor(ScheduleConfig(max_steps=1000, warmup_steps=4), s, 0.0) for s in range(6)]
    assert values == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_a_plan_shorter_than_its_warm_up_reaches_the_rate_all_the_same():
    config = ScheduleConfig(kind="constant", max_epochs=1, warmup_steps=250, warmup_share=0.05)
    factors = [compute_factor(config, step, compute_progress(config, step, 0.0, epoch_steps=134)) for step in range(134)]
    assert factors == sorted(factors) and factors[3] < 1 and factors[7:] == [1.0] * 127


@pytest.mark.parametrize("kind", ["cosine", "linear"])
def test_annealing_goes_from_one_to_the_final_ratio(kind):
    values = [_factor(p / 10, kind=kind, final_ratio=0.1) for p in range(11)]
    assert values[0] == pytest.approx(1) and values[-1] == pytest.approx(0.1)
    assert values == sorted(values, reverse=True)


def test_a_trapezoid_is_constant_until_its_decay():
    keys = {"kind": "trapezoid", "decay_start": 0.6, "final_ratio": 0.1}
    assert [_factor(p, **keys) for p in (0, 0.3, 0.6, 0.8, 1)] == pytest.approx([1, 1, 1, 0.55, 0.1])


def test_steps_drop_at_their_milestones():
    keys = {"kind": "step", "milestones": [0.5, 0.8], "gamma": 0.1}
    assert [_factor(p, **keys) for p in (0.4, 0.5, 0.9)] == pytest.approx([1, 0.1, 0.01])


def test_the_plateau_drops_after_patience_evaluations_without_improvement():
    plateau = PlateauCounter()
    assert [plateau.update(loss, 2) for loss in (3, 2, 2.5, 2.1, 1.9, 2, 2)] == [True, True, False, False, True, False, False]
    assert (plateau.drops, plateau.since_best, plateau.best) == (2, 2, 1.9)
    assert _factor(0.0, drops=2, kind="plateau", gamma=0.5) == 0.25


def test_a_run_may_be_planned_in_epochs():
    config = ScheduleConfig(kind="linear", max_epochs=2.5)
    assert count_steps(config, 40) == 100
    assert compute_progress(config, 50, 0, 40) == 0.5
    both = ScheduleConfig(kind="linear", max_epochs=2.5, max_steps=60)
    assert count_steps(both, 40) == 60 and compute_progress(both, 60, 0, 40) == 1.0
    assert count_steps(ScheduleConfig(max_minutes=3), 40) is None


def test_a_run_may_cover_a_part_of_a_schedule():
    whole = ScheduleConfig(kind="linear", max_steps=10, warmup_steps=0, final_ratio=0.0)
    second = ScheduleConfig(kind="linear", max_steps=10, warmup_steps=0, final_ratio=0.0, begin=0.25, end=0.5)
    assert compute_factor(second, 0, 0.0) == compute_factor(whole, 0, 0.25) == 0.75
    assert compute_factor(second, 9, 1.0) == compute_factor(whole, 9, 0.5) == 0.5
    with pytest.raises(ValueError, match="begin must not be above end"):
        ScheduleConfig(max_steps=1, begin=0.5, end=0.25)
