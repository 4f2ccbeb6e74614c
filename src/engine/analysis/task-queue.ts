/** Waiting positions in a binary heap: highest priority first, the oldest first among equals. */

import { isSelected, type PositionTask, type TaskSelection } from './parse-query.js';

interface Entry {
  readonly task: PositionTask;
  readonly arrival: number;
}

export class TaskQueue {
  private entries: Entry[] = [];
  private arrivals = 0;

  get size(): number {
    return this.entries.length;
  }

  add(task: PositionTask): void {
    this.push({ task, arrival: this.arrivals++ });
  }

  /** The next task; undefined if none waits. */
  take(): PositionTask | undefined {
    const { entries } = this;
    const [first] = entries;
    const last = entries.pop();
    if (last !== undefined && last !== first) {
      entries[0] = last;
      this.sink();
    }
    return first?.task;
  }

  /** Removes the selected tasks and returns them in order of arrival. */
  remove(selection: TaskSelection): PositionTask[] {
    const removed = this.entries.filter(({ task }) => isSelected(task, selection));
    const kept = this.entries.filter(({ task }) => !isSelected(task, selection));
    this.entries = [];
    for (const entry of kept) this.push(entry);
    return removed.sort((a, b) => a.arrival - b.arrival).map(({ task }) => task);
  }

  private push(entry: Entry): void {
    const { entries } = this;
    let at = entries.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, entries[parent])) break;
      entries[at] = entries[parent];
      at = parent;
    }
    entries[at] = entry;
  }

  private sink(): void {
    const { entries } = this;
    const [entry] = entries;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1], entries[child])) child++;
      if (!isBefore(entries[child], entry)) break;
      entries[at] = entries[child];
      at = child;
    }
    entries[at] = entry;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.task.priority !== b.task.priority ? a.task.priority > b.task.priority : a.arrival < b.arrival;
}
