import numpy as np
from sardonyx_train.config.training_config import TargetConfig
from sardonyx_train.data.targets import compress_scores, policy_from_scores, value_target, wdl_from_score, wdl_from_value

NAN = np.nan


def test_compression_keeps_the_order_of_all_scores_and_mates():
    scores = np.array([-31998, -31990, -5000, -900, -100, 0, 30, 400, 20000, 31900, 31990, 31998], float)
    assert (np.diff(compress_scores(scores, TargetConfig())) > 0).all()


def test_compression_is_odd():
    scores = np.array([12.0, 500, 31995])
    assert np.allclose(compress_scores(-scores, TargetConfig()), -compress_scores(scores, TargetConfig()))


def test_policy_probabilities_sum_to_one_and_skip_missing_moves():
    p = policy_from_scores(np.array([[50, 10, NAN], [3, NAN, NAN]], float), TargetConfig())
    assert np.allclose(p.sum(1), 1)
    assert p[0, 2] == 0 and p[1, 0] == 1


def test_a_lower_temperature_sharpens_the_policy():
    cp = np.array([[40.0, 0.0]])
    cold, warm = (policy_from_scores(cp, TargetConfig(policy_temperature_cp=t)) for t in (10, 80))
    assert cold[0, 0] > warm[0, 0]


def test_a_larger_mate_step_leaves_nothing_to_a_longer_mate():
    mates = np.array([[31998.0, 31996, 31994]])
    assert policy_from_scores(mates, TargetConfig())[0, 0] < 0.7
    assert policy_from_scores(mates, TargetConfig(policy_temperature_cp=10, policy_mate_step_cp=60))[0, 0] > 0.99


def test_the_longest_mate_stays_above_every_other_score_whatever_the_step():
    scores = np.array([-31001.0, -30999, 30999, 31001])
    for step in (1.0, 15.0, 60.0):
        assert (np.diff(compress_scores(scores, TargetConfig(policy_mate_step_cp=step))) > 0).all()


def test_wdl_is_a_mirrored_distribution():
    cp = np.array([-400.0, -50, 0, 120, 32000])
    wdl = wdl_from_score(cp, TargetConfig())
    assert np.allclose(wdl.sum(1), 1) and (wdl >= 0).all()
    assert np.allclose(wdl, wdl_from_score(-cp, TargetConfig())[:, ::-1])
    assert np.isclose(wdl_from_score(np.array([80.0]), TargetConfig())[0, 0], 0.5)


def test_wdl_of_a_search_value_gives_it_back():
    q, d = np.array([0.3, -0.9]), np.array([0.4, 0.05])
    wdl = wdl_from_value(q, d)
    assert np.allclose(wdl[:, 0] - wdl[:, 2], q) and np.allclose(wdl[:, 1], d)


def test_value_targets_take_what_is_known():
    result = np.array([1, NAN, -1, NAN])
    cp = np.array([0, 100, NAN, NAN])
    q = np.array([NAN, 0.5, NAN, NAN])
    d = np.array([NAN, 0.1, NAN, NAN])
    wdl = value_target(result, cp, q, d, TargetConfig(result_weight=0.25))
    assert np.allclose(wdl[0], 0.75 * wdl_from_score(np.array([0.0]), TargetConfig())[0] + 0.25 * np.array([1, 0, 0]))
    assert np.allclose(wdl[1, 0] - wdl[1, 2], 0.5)
    assert np.allclose(wdl[2], [0, 0, 1])
    assert np.isnan(wdl[3]).all()
