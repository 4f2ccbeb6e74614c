/** A worker thread of a shards run: converts the files it is given, one after another. */
import { onParentMessage, postToParent } from '#platform/threads.js';
import { convertInput, type ShardsTask } from './convert-input.js';

onParentMessage((task: ShardsTask) => {
  void convertInput(task, postToParent);
});
