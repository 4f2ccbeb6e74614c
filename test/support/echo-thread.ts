/** A thread for tests: posts its data, then sends back what it is sent, or does what the message says. */
import { endThread, getThreadData, onParentMessage, postToParent } from '#platform/threads.js';

postToParent(await getThreadData());
onParentMessage((message: string) => {
  if (message === 'throw') throw new Error('told to throw');
  if (message === 'end') endThread();
  else if (message === 'spin') {
    postToParent('spinning');
    for (;;);
  } else postToParent(message);
});
