/**
 * The conversation: JSON lines in, objects out, after KataGo's analysis engine. It answers everything that needs no search, and
 * passes positions on. It never throws, whatever a line holds.
 */

import { getErrorMessage, isTooLong } from '../../base/util/index.js';
import { type PositionTask, parseQuery, type QueryDefaults, type TaskSelection } from './parse-query.js';
import { isObject, QueryProblem, readFields, terminationSchema } from './query-fields.js';

export interface AnalysisHost {
  add(tasks: readonly PositionTask[]): void;
  terminate(selection: TaskSelection): void;
}

/** A network with its own evaluators and search thread. */
export interface AnalysisModel {
  /** The name that queries use. */
  readonly name: string;
  /** The name in the network file. */
  readonly network: string;
  readonly host: AnalysisHost;
  clearCache(): void;
}

export interface AnalysisPorts {
  /** The first one answers queries without a model. */
  readonly models: readonly AnalysisModel[];
  readonly version: string;
  send(message: object): void;
}

const ACTIONS = 'query_version, query_models, clear_cache, terminate, terminate_all';

export class AnalysisSession {
  constructor(
    private readonly ports: AnalysisPorts,
    private readonly defaults: Omit<QueryDefaults, 'models'>,
  ) {}

  receiveLine(line: string): void {
    if (line.trim() === '') return;
    if (isTooLong(line)) {
      this.ports.send({ error: 'The line is too long' });
      return;
    }
    let object: unknown;
    try {
      object = JSON.parse(line);
    } catch (error) {
      this.ports.send({ error: `The line is not JSON: ${(error as Error).message.split('\n')[0]}` });
      return;
    }
    if (!isObject(object)) {
      this.ports.send({ error: 'A query must be a JSON object' });
      return;
    }
    const { id } = object;
    if (typeof id !== 'string') {
      this.ports.send({ error: 'A query needs an id, which must be a string', field: 'id' });
      return;
    }
    try {
      if (object.action === undefined) this.receiveQuery(id, object);
      else this.receiveAction(object);
    } catch (error) {
      if (error instanceof QueryProblem) this.ports.send({ id, error: error.message, field: error.field });
      // A fault of ours must not take the lines behind this one along.
      else this.ports.send({ id, error: `Internal error: ${getErrorMessage(error)}` });
    }
  }

  /** @throws QueryProblem */
  private receiveQuery(id: string, object: Record<string, unknown>): void {
    const { models } = this.ports;
    const names = models.map(({ name }) => name);
    const { model, tasks, warnings } = parseQuery(id, object, { ...this.defaults, models: names });
    for (const { field, text } of warnings) this.ports.send({ id, warning: text, field });
    models[model].host.add(tasks);
  }

  /** @throws QueryProblem */
  private receiveAction(object: Record<string, unknown>): void {
    const { models, version, send } = this.ports;
    switch (object.action) {
      case 'query_version':
        send({ ...object, version });
        return;
      case 'query_models':
        send({
          ...object,
          models: models.map(({ name, network }) => (name === network ? { name } : { name, network })),
        });
        return;
      case 'clear_cache':
        for (const model of models) model.clearCache();
        send(object);
        return;
      case 'terminate':
      case 'terminate_all':
        this.terminate(object);
        return;
      default:
        throw new QueryProblem('action', `action must be one of ${ACTIONS}`);
    }
  }

  private terminate(object: Record<string, unknown>): void {
    const { terminateId, turnNumbers = null } = readFields(terminationSchema, object);
    const isOne = object.action === 'terminate';
    if (isOne && terminateId === undefined)
      throw new QueryProblem('terminateId', 'terminate needs the id of a query as terminateId');
    this.ports.send(object);
    const queryId = isOne ? (terminateId ?? null) : null;
    for (const { host } of this.ports.models) host.terminate({ queryId, turnNumbers });
  }
}
