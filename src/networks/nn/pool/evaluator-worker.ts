/** The script of an evaluator thread. */
import { evaluatorFactory } from '../evaluators/create-evaluator.js';
import { runEvaluatorThread } from './evaluator-thread.js';

await runEvaluatorThread(evaluatorFactory);
