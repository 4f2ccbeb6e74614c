from argparse import Namespace

import simulate_cluster


def test_every_game_of_the_simulated_workers_is_received_and_given_to_generations(tmp_path):
    options = Namespace(
        seconds=60, game_seconds=2, games_per_task=4, games_per_generation=40, report_seconds=1, game_bytes=100, ray_ms=1, look_us=10
    )
    row = simulate_cluster.simulate(options, 10, tmp_path)
    assert 4 < row["games/s"] <= 5.5 and row["messages/s"] <= row["games/s"]
    assert 0 < row["head busy"] < 5 and len(row["memory MB"]) == 2
