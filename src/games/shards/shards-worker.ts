/** A worker thread of a shards run: converts the files it is given, one after another. */
import { onParentMessage, postToParent } from '#platform/threads.js';
import { convertInput } from './convert-input.js';
import type { ShardsTask } from './shards-messages.js';

onParentMessage((task: ShardsTask) => {
  void convertInput(task, postToParent);
});
