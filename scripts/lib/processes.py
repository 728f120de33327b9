"""Several processes at once, started together, each with a result."""

import multiprocessing

FORK = multiprocessing.get_context("fork")
LIMIT_S = 120


def together(works):
    """Runs each function of `works` in a process of its own, all from one starting shot.

    Returns their results in order; a failure in one of them is raised here.
    """
    barrier = FORK.Barrier(len(works))
    running = [start(work, barrier) for work in works]
    results = []
    for process, results_end in running:
        if not results_end.poll(LIMIT_S):
            raise TimeoutError(f"a process gave no result within {LIMIT_S} s")
        results.append(results_end.recv())
        process.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def start(work, barrier):
    mine, theirs = FORK.Pipe(duplex=False)

    def run():
        try:
            barrier.wait(LIMIT_S)
            theirs.send(work())
        except BaseException as error:
            theirs.send(error)

    process = FORK.Process(target=run, daemon=True)
    process.start()
    theirs.close()
    return process, mine
