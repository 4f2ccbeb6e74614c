/** Positions of sample games as a network's planes, with the policy indices of their legal moves. */
import { unwrap } from '../../../base/util/index.js';
import { listLegalMoves, Position, parseUciMove } from '../../../chess/rules/index.js';
import { expandPlanes } from '../../encoding/index.js';
import { loadModel, type Model, type RunTensor } from '../../nn/index.js';

/** Every 12th ply of the sample games gives ranges; others, between them, are compared. */
const PLY_STEP = 12;
export const RANGE_PLY = 3;
export const COMPARED_PLY = 9;

/** The input of one call, with eight sample positions, to measure a network's speed. */
export async function createSpeedSample(bytes: Uint8Array): Promise<Readonly<Record<string, RunTensor>>> {
  const { format } = unwrap(await loadModel({ bytes, name: 'the network' }));
  const [{ rows, planes }] = createSamples(format, COMPARED_PLY);
  return { [format.input.name]: { data: planes, dims: [rows, ...format.input.shape] } };
}

/**
 * Games of light-48x5 against itself (40 visits a move, temperature 1.2), whose positions show a network's ranges: openings,
 * middlegames and endgames, level and lost ones, in UCI moves from the start position.
 */
const SAMPLE_GAMES: readonly string[] = [
  'd2d4 d7d5 g1f3 g8f6 c1f4 b8c6 e2e3 c8f5 b1c3 e7e6 a2a3 a7a6 f1c4 d5c4 f3h4 f5g4 f2f3 g4h5 d1e2 g7g5 f4g5 h8g8 g5f6 d8f6 g2g3 e8a8 c3e4 f6g7 e2c4 f8e7 e1a1 e7h4 g3h4 g7h6 e4g5 g8f8 h1g1 h5f3 g5f3 h6e3 f3d2 d8d4 c4c5 f8d8 g1e1 e3h3 d2b3 d4d1 e1d1 d8d1 c1d1 h3h2 c5f8 c8d7 b3c5',
  'd2d4 g8f6 g1f3 d7d5 e2e3 c8f5 c2c4 e7e6 f1e2 b8c6 c4d5 f6d5 e2b5 d5b4 h1f1 b4c2 e1e2 c2a1 b1c3 f8d6 e3e4 f5g4 c1g5 g4f3 g2f3 d8g5 d1a4 e8h8 f1d1 a7a6 b5c6 b7c6 a4c6 a1c2 c6b5 a6b5 e4e5 d6b4 f3f4 g5f5 d1d2 a8d8 d2c2 f5c2 e2f1 d8d4 f4f5 d4f4 f2f3 c2b1 c3b1 f4f3 f1g2 f3f4 f5f6 f8c8 g2g3 g7g5 a2a3 b4f8 b1c3 c7c6 b2b3 c8d8 a3a4 d8d3 g3g2 d3c3 a4b5 c6b5 g2g1 f8c5 g1g2 f4f2 g2h1 c3c1',
  'g1f3 c7c6 b2b3 f7f6 a2a3 d7d5 e2e3 e7e5 c1b2 g8h6 c2c4 h6f7 f1e2 d5c4 b3c4 b8d7 d2d4 e5e4 f3d2 f6f5 f2f3 d8g5 e1h1 e4f3 d2f3 g5e3 g1h1 f8e7 b1c3 d7f6 e2d3 f6g4 d1c2 e3h6 a1e1 g4e3 e1e3 h6e3 d3f5 c8f5 c2f5 f7d6 f5h5 g7g6 h5h3 d6c4 f1e1 e3e1 f3e1 c4b2 h3e6 h8f8 e1f3 a8d8 e6e2 f8f3 g2f3 b2d3 e2d3 d8d4 d3d4 e8f7 a3a4 a7a6 c3e4 f7e6 a4a5 b7b5 a5b6 e6f5 d4d7 f5e5 d7e7 e5d5 e7c5 d5e6 b6b7 e6d7 b7b8q h7h5 c5d6',
  'd2d4 g7g6 e2e4 c7c6 g1f3 f8g7 c2c3 d7d5 e4e5 c8d7 f1e2 c6c5 d4c5 e7e6 b2b4 g8e7 e1h1 e8h8 c1g5 d8c7 g5e7 f8e8 e7d6 c7d6 c5d6 a7a6 h2h4 e8c8 h4h5 g6h5 f3g5 g7e5 e2h5 d7e8 d1d3 b8c6 d3h7 g8f8 f2f4 e5g7 d6d7 e8d7 b4b5 c6e7 g5f7 d7b5 f7g5 c8c6 f1f2 e7f5 g2g4 f5h6 f4f5 f8e7 f5e6 a8g8 f2f7 h6f7 h7g8 f7g5 g8g7 e7e6 b1d2 g5h3 g1h2 h3f2 a1e1 b5e2 e1e2 f2e4 h5f7 e6d6 f7d5 d6d5 g7d4 d5e6 e2e4 e6f7 d4d7 f7g8 e4e8',
  'd2d4 g8f6 a2a3 d7d5 c2c3 c7c6 h2h3 c8f5 g1f3 h7h6 c1f4 f6e4 f3h4 e7e6 h4f5 e6f5 e2e3 f8d6 f4d6 e4d6 b1d2 b8d7 f1d3 d8e7 e1h1 h6h5 d2f3 g7g5 a3a4 g5g4 f3d2 g4h3 g2h3 e8a8 g1h1 f5f4 e3f4 d8g8 d1f3 a7a5 a1e1 e7f6 f1g1 c8b8 d2b3 b8c7 b3a5 f6h4 a5b3 d7f6 c3c4 g8g1 e1g1 d5c4 d3c4 d6c4 b3c5 c4d6 g1g5 f6d5 a4a5 h4f4 f3f4 d5f4 g5g1 f4h3 g1g3 h3f2 h1g2 h5h4 g3g7 f2d1 c5e6 c7b8 e6c5 d1e3 g2h3 e3f5 c5d7 b8a8 d7b6 a8a7 g7g5 f5d4 g5g4 c6c5 b6a4 d6c4 a4c5 h8d8 b2b4 c4e5 g4e4 d4f3 c5b7 d8g8 b7d6 g8g3',
  'c2c4 c7c5 g2g3 g8f6 d1a4 e7e6 g1f3 b8c6 d2d3 f8e7 c1d2 d7d5 f1g2 c8d7 a4b3 e8h8 d2c3 a8b8 f3e5 d5d4 e5d7 f6d7 c3d2 h7h6 e1h1 a7a5 b3d1 d8b6 f2f4 b6b2 d2c1 b2a1 g2c6 b7c6 b1d2 a5a4 d1a4 b8a8 a4c6 d7f6 c1b2 a1b2 c6f3 g8h7 d2b1 b2a2 g1h1 f8b8 h1g2 b8b2 f1f2 h7g8 f2f1 b2e2 g2h1 e2h2 h1g1 a8a6 b1d2 a2d2 f3f2 d2f2 f1f2 f6g4 f2h2 g4h2 g1h2 a6a3 f4f5 e7g5 f5e6 f7e6 h2h3 a3a2 h3g4 g7g6 g4f3 a2d2 f3e4 d2e2 e4f3 e2e3 f3g2 e3d3 g2h3 g5c1 h3h4 c1g5 h4g4 d3e3 g4h3 d4d3 h3h2 d3d2 h2h3 d2d1q h3g2 e3e2 g2h3 d1h1',
  'e2e4 d7d5 e4d5 g8f6 c2c4 c7c6 d2d4 c6d5 g1e2 d5c4 f2f3 a7a6 e2c3 b7b5 a2a4 b5b4 c3e4 b8c6 c1e3 f6d5 e3f2 c6a5 b1d2 f7f5 d2c4 f5e4 f3e4 d5f6 e4e5 c8e6 c4a5 d8a5 e5f6 e7f6 d1f3 e6d5 f3e2 f8e7 f2g3 b4b3 e1f2 e8f7 a1c1 a5a4 e2h5 f7e6 c1e1 e6d7 h5d5 d7e8 g3d6 h7h5 e1e7 e8d8 d5a8',
  'd2d4 e7e6 b1d2 d7d5 b2b3 c7c5 e2e4 b7b6 f1b5 c8d7 b5d7 b8d7 e4d5 g8e7 d5e6 f7e6 d2e4 d7f6 e4f6 g7f6 g1f3 c5d4 f3d4 d8d5 e1h1 h8g8 g2g3 e8a8 c1e3 e6e5 c2c4 d5e4 d4e6 d8d1 e6g7 d1f1 a1f1 g8g7 f1e1 e7f5 e1c1 f8c5 e3c5 f5h4 g1f1 h4f3 c5d4 e4d3 f1g2 d3c3 d4c3 f3h4 g2f1 h4f3 f1g2 f3g5 f2f4 e5f4 c3f6 g7g6 f6g5 g6g5 g2f3 f4g3 h2g3 g5f5 f3e3 f5g5 e3f4 g5h5 c1c2 h5h1 c2e2 h1f1 f4g4 c8d7 e2h2 f1f7 g4g5 d7d6 g5h6 a7a5 g3g4 a5a4 b3a4 d6c5 h2h5 c5c4 g4g5 c4b4 h5h4 b4a3 h4h3 a3a4 h3h4 a4a3 h4h2 b6b5 g5g6 h7g6',
  'e2e4 b8c6 d2d4 e7e6 g1f3 d7d5 f1d3 c6b4 d3e2 d5e4 f3d2 g8f6 d2e4 f6e4 a2a3 b4c6 d4d5 e6d5 c1e3 c6d4 e3d4 c7c6 f2f3 e4c5 g2g4 h7h5 g4g5 c5e6 d4e5 d8g5 e5d4 e6d4 d1d4 f8d6 h2h4 g5e5 d4e5 d6e5 c2c3 e5c3 b2c3 c8f5 b1d2 e8a8 e1f2 h8e8 d2b3 c8c7 b3d4 f5c8 e2a6 b7a6 a1g1 g7g6 g1g6 f7g6 h1a1 c6c5 d4b3 c5c4 b3d4 g6g5 f3f4 g5f4 f2f1 c8f5 d4f5 d8d7 a1d1 e8f8 f5d4 d7d6 d1e1 d6g6 e1e5 f8f6 e5e7 c7d8 e7a7 f4f3 a7h7 f3f2 d4e2 f6b6 h7h5 b6f6 h5d5 d8c7 h4h5 g6g4 d5c5 c7b6 c5e5 g4h4 e2g3 h4g4 e5e3 g4f4 e3e2 b6c6',
  'e2e4 c7c5 b1a3 b8c6 d1g4 d7d5 g4h4 d5e4 h4e4 g8f6 e4e3 e7e6 g1f3 e6e5 f3e5 c6e5 e3e5 d8e7 f1b5 c8d7 e5e7 f8e7 b5d7 f6d7 g2g4 e7f6 a3b5 h7h5 b5c7 e8d8 c7a8 h8e8 e1d1 h5g4 h1g1 d7e5 d2d4 e5f3 g1f1 d8d7 d4c5 d7c6 a8b6 a7b6 c1e3 b6c5 c2c3 f6g5 e3g5 f3g5 d1c2 g5f3 a1d1 f7f5 c2d3 g7g6 d3c2 f3h2 f1e1 e8e1 d1e1 c6d6 e1d1 d6c6 c3c4 h2f3 c2d3 f3e5 d3c3 f5f4 d1e1 c6d6 e1d1 d6e7 d1d5 e7f6 d5c5 g4g3 f2g3 f4g3 a2a4 g3g2 c5b5 g2g1q b2b3 e5c6 c4c5 c6d4 b5b6 f6e5 b6g6 g1g6 c5c6 g6c2 c3b4 c2b3 b4c5 b7b6',
  'd2d3 e7e5 g1f3 f8d6 e2e4 b8c6 b1d2 a7a6 c2c3 f7f5 e1e2 f5e4 d2e4 d6e7 e2e1 d7d5 e4g3 c6a5 f3e5 e7f6 d1a4 d8d7 e5d7 c8d7 a4a5 h7h5 a5d5 e8a8 d3d4 c8b8 c1f4 d7c6 d5f7 d8d7 f7f8 d7d8 f8f7 g8e7 f4c7 b8c7 a1d1 c6d5 f7g6 e7g6 f1d3 g6f4 f2f3 h5h4 g3e4 f4g2 e1e2 g2f4 e2e3 f4d3 e3d3 d8e8 e4f6 g7f6 d1f1 b7b5 h1g1 d5c4 d3c2 c4f1 g1f1 c7d6 f1f2 h8f8 f3f4 f8g8 c2d3 d6d5 b2b3 g8g1 f4f5 g1h1 c3c4 b5c4 b3c4 d5c6 d4d5 c6d6 d3d4 h1d1 d4c3 d1g1 f2f4 g1g2 f4h4 a6a5 h4h7 e8e3 c3d4 e3e7 c4c5 d6d7 c5c6 d7d6 h7e7 d6e7',
  'e2e4 d7d6 b1c3 a7a6 d2d4 c7c6 c1e3 e8d7 f1d3 d7e8 f2f4 g7g6 g1e2 f8g7 e1h1 e7e6 e3f2 d6d5 e2g3 a6a5 d1e2 h7h5 f4f5 h5h4 f5g6 f7g6 e4d5 h4g3 d3g6 e8e7 f2g3 g8f6 a1e1 h8h3 g2h3 e7f8 g3e5 b8d7 b2b3 d7e5 e2e5 e6d5 g1h1 f8g8 e5e7 d8e7 e1e7 c8h3 f1f4 b7b5 f4f3 h3g4 f3f4 b5b4 c3a4 a8f8 g6f7 f8f7 e7f7 g8f7 a4c5 g4f5 f4f5 f7g6 f5f1 f6g8 c5e6 g8e7 e6g7 g6g7 f1e1 e7g8 e1e6 g7f7 e6c6 g8f6 c6c7 f7g6 c7c5 g6f7 c5a5 f6e4 a2a4 f7e6 a5a8 e6f5 a4a5 f5f4 a8f8 f4g4 a5a6 g4h3 f8f4 e4f2 f4f2 h3g4 a6a7 g4h3 f2g2 h3h4',
  'c2c4 e7e5 b1c3 b8c6 e2e3 b7b6 g1e2 c8a6 d2d4 g8f6 d4d5 c6a5 e2g3 f8b4 f1d3 a5c4 e1h1 h7h5 d1a4 b4c3 b2c3 d8c8 d3c4 a6c4 a4c4 h5h4 g3f5 g7g6 f5g7 e8f8 f2f4 f8g7 f4e5 h4h3 e5f6 g7h7 e3e4 h3g2 f1f3 d7d6 g1g2 c8g4 f3g3 g4h5 g3h3 h5h3 g2h3 h8c8 h3g3 a8b8 e4e5 b6b5 c4h4 h7g8 h4h6 a7a6 h6g7',
  'c2c4 e7e5 b1c3 d8h4 g1f3 h4d8 f3e5 f8b4 c3d5 b4d6 d2d4 g8e7 d5c3 e8h8 e5d3 b7b6 e2e4 c8b7 e4e5 d6e5 d3e5 d7d6 e5f3 e7c8 f1e2 b7f3 e2f3 b8c6 f3c6 a8b8 e1h1 c8e7 c6a4 e7f5 g1h1 d8h4 c3d5 b8c8 c1d2 b6b5 a4b5 c7c6 b5c6 c8c6 g2g3 h4e4 f2f3 e4d4 d2a5 f8b8 b2b3 c6c5 a5c3 d4d1 a1d1 f5d4 d5e7 g8f8 f1e1 c5e5 e1e5 d6e5 c3d4 e5d4 e7c6 b8c8 c6d4 c8b8 d4c6 b8c8 c6a7 c8e8 a7c6 f7f5 c6d4 g7g5 a2a4 e8b8 h2h3 b8d8 h3h4 g5h4 g3h4 f8e8 a4a5 f5f4 b3b4 d8d7 h1g2 d7g7 g2h3 e8d7 d4f5 d7c6 f5g7 c6c7 h3g4 h7h6 g4f4 c7c6',
  'g2g3 e7e5 g1f3 e5e4 c2c3 e4f3 d1b3 d7d5 d2d4 b8d7 c3c4 d7b8 c4d5 g8f6 b1c3 a7a5 c1f4 f8d6 f4d6 c7d6 e2f3 e8h8 e1a1 a5a4 c3a4 a8a5 a4c3 f8e8 f1c4 b8a6 h1e1 e8e1 d1e1 a6c7 b3b6 a5a8 c3b5 a8a2 c4a2 c7a8 b6d8 f6e8 e1e8',
  'd2d4 e7e6 g1f3 a7a6 c2c4 g8f6 b1c3 b7b6 e2e4 c8b7 e4e5 f6e4 c3e4 b7e4 f3g5 e4g6 d1f3 b8c6 c1e3 c6b4 a1c1 d8b8 h2h4 f8e7 h4h5 b4c2 c1c2 g6c2 f3f7 e8d8 f7g7 e7b4 e1e2 h8f8 e3f4 f8f4 g2g3 f4d4 g7h8 d8e7 h8g7 e7e8 g7f7 e8d8 f7g8 d8e7 g8f7 e7d8 f7g8 d8e7 g8g7 e7e8 g7f7 e8d8',
  'd2d4 g8f6 e2e3 d7d5 g1f3 c8f5 c2c4 e7e6 d1b3 b8d7 b1d2 c7c5 c4d5 f6d5 e3e4 d5b4 e4f5 e6f5 a2a3 f5f4 f3h4 b4c2 b3c2 d8h4 c2b3 h4e7 f1e2 c5d4 d2f3 d4d3 b3d3 g7g5 h2h4 d7c5 d3d4 e7e5 d4e5 f8e7 f3g5 f4f3 e5h8 e7f8 h8e5 f8e7 e2b5 c5d7 b5d7 e8d7 e5d5 e7d6 a1a2 a8e8 g5e4 e8e5 d5d6 d7c8 d6e5 c8d7 c1f4 f3g2 e4f6 d7c6 e5c7 c6b5 a3a4 b5b4 c7c3',
  'h2h3 d7d5 d2d4 c7c5 d4c5 g8f6 c2c3 e7e6 b2b4 b8d7 g1f3 b7b6 c5c6 d7b8 b4b5 f8d6 e2e3 a7a6 c3c4 d6b4 c1d2 b4d6 c4d5 f6e4 f1d3 e4d2 b1d2 e6d5 a1b1 a6b5 d3b5 c8f5 c6c7 e8e7 c7d8n e7d8 e1h1 f5b1 f3d4 f7f5 d1b1 f5f4 d4e6 d8e7 g2g4 f4g3 e6f4 g3f2 g1h1 d6f4 b1f5 h8f8 f5g4 f4e3 g4g7 f8f7 g7c3 e3c5 c3e5 e7f8 e5h8 f8e7 h8e5 e7f8 e5e8 f8g7 e8d8 f7f5 d2b3 f5h5 d8c7 g7h8 c7c8 h8g7 c8g4 g7h6 b3c5 d5d4 f1f2 h5g5 g4h4 g5h5 h4f6',
  'e2e4 d7d5 b2b3 d8d7 f1b5 d7b5 a2a4 b5d7 d2d3 e7e5 e4d5 d7d5 d1f3 d5d8 f3e2 c7c6 g1f3 f7f6 d3d4 f8d6 d4e5 f6e5 f3e5 d8f6 c1b2 f6e7 e1h1 g8f6 f1e1 e8h8 b1d2 a7a6 d2c4 d6c7 e2d3 c8e6 b2a3 c6c5 a1d1 b7b5 d3f3 a8a7 a4b5 a6b5 e5c6 b8c6 f3c6 e6d7 e1e7 d7c6 a3c5 a7b7 c4d6 c7d6 c5d6 b7e7 d6e7 f8e8 e7d6 f6d5 c2c4 d5c3 d1a1 b5c4 b3c4 c3e2 g1f1 e2d4 a1d1 d4f5 d6f4 f5h4 f2f3 e8f8 f4g3 h4f5 f1f2 f8a8 d1d2 h7h5 g3c7 g8f7 c7f4 a8a4 d2c2 f5d4 c2c3 a4a2 f2f1 d4e2 c3e3 e2f4 g2g3 f4h3 e3e2 a2a1 f1g2 h3g5 h2h4 c6f3',
  'e2e4 g8f6 e4e5 f6d5 d2d3 e7e6 c2c4 d5b4 d3d4 c7c5 b1c3 f8d6 d1b3 d6c7 g1f3 c5d4 b3b4 b8c6 b4a3 d4c3 c1g5 c3b2 g5d8 b2a1q e1e2 e8d8 h1g1 c6d4 e2d2 d4f3 a3f3 a1d4 f1d3 c7a5 d2e2 d4b2 e2f1 b2c1 f1e2 c1d2 e2f1 d2e1',
  'g1f3 g8f6 e2e3 b7b6 d2d4 e7e6 a2a3 c7c5 d4c5 h8g8 c5b6 d8b6 f1d3 g8h8 e1h1 c8b7 c2c4 b7f3 d1f3 b8c6 b1c3 f8d6 b2b4 d6e5 c1d2 b6b8 f1b1 e5h2 g1f1 c6e5 f3e2 e5d3 e2d3 h7h5 c4c5 h2e5 g2g3 h5h4 g3h4 h8h4 f1e2 f6g4 b1h1 h4h6 a1g1 h6h1 g1h1 f7f5 h1h8 e8e7 h8b8 a8b8 c3b5 g4f2 e2f2 e7e8 b5a7 b8a8 a7b5 e5b8 b5d6 b8d6 d3d6 a8a3 c5c6 a3d3 c6d7 e8d8 d6d3 g7g5 d3d6 g5g4 d6d4 d8e7 d7d8q e7f7 d4f6',
  'e2e4 g7g6 b1c3 c7c5 g1e2 f8g7 h2h4 b8c6 a2a4 d7d6 h4h5 g8f6 h5g6 h7g6 h1h8 g7h8 f2f3 d6d5 d2d3 d5e4 c3e4 f6e4 d3e4 c8e6 d1d8 a8d8 a1a3 c6b4 b2b3 b4c2 e1f2 c2a3 c1a3 d8c8 e2f4 a7a6 f4e6 f7e6 f1e2 h8f6 f3f4 f6d4 f2f3 c8b8 e4e5 e8f7 a4a5 b8h8 e2c4 h8h1 c4d3 h1a1 a3b2 d4b2 g2g4 a1a3 d3g6 f7g6 f3e4 a3b3 f4f5 g6g5 f5e6 b2c1 e4d5 b3d3 d5e4 d3d4 e4f3 d4g4 f3f2 g4a4 f2f3 a4a5 f3e4 a5b5 e4d3 c1e3 d3c4 b5b4 c4d3 g5f4 d3c2 f4e5 c2c3 b4e4 c3c2 e5e6 c2b3 e3d4 b3c4 b7b5 c4d3 e4e3 d3d2 e3a3 d2e2 c5c4 e2f1 a3a2',
  'e2e4 c7c5 g1f3 d8c7 c2c4 d7d6 g2g4 c8g4 b1c3 b8c6 h1g1 g8f6 d2d3 c6b4 h2h3 g4f3 d1f3 b4c2 e1d1 c2a1 c1g5 c7a5 e4e5 d6e5 f1g2 e5e4 f3e3 e8a8 g2e4 f6e4 e3e4 f7f6 g5f4 e7e5 f4e3 f8e7 g1g7 d8d7 c3d5 a5d8 d5e7 d7e7 g7e7 d8e7 h3h4 e7d7 b2b3 h8d8 d1d2 b7b6 d2c3 a7a5 c3b2 c8b8 f2f4 d7d3 e4c6 d8h8 c6b6 b8a8 b6a6 a8b8 a6b6 b8c8 b6c6 c8b8 c6b6',
  'd2d4 h7h6 e2e4 d7d6 b1c3 c8d7 g1e2 g7g6 h2h4 g8f6 f2f3 f8g7 c1e3 c7c5 d4c5 d6c5 e4e5 f6h5 g2g4 d8c7 g4h5 g7e5 f3f4 e5c3 e2c3 g6h5 d1h5 b8c6 c3d5 c7d6 e1a1 d7e6 c2c4 e8a8 h1g1 c6b4 f4f5 e6d5 f5f6 d6e6 e3c5 d5e4 c5b4 e6b6 h5c5 b6c5 b4c5 e7f6 f1h3 f6f5 c5d4 h8e8 g1g3 e8g8 g3g8 d8g8 a2a3 g8g3 h3f1 g3g4 d4a7 g4h4 a7b6 h4h5 d1d8',
  'g1f3 b7b6 c2c4 g7g6 e2e4 c8b7 b1c3 d7d5 e4d5 e7e6 d2d4 f8g7 d5e6 f7e6 f1e2 c7c5 d1c2 c5d4 c3b5 a7a6 c1f4 a6b5 c4b5 b8d7 e1h1 e6e5 f4g5 g8f6 f3e5 d7e5 f2f4 e5f7 e2f3 a8c8 c2e2 d8e7 e2e7 e8e7 f3b7 c8c7 b7c6 f7g5 f4g5 f6g4 c6d7 c7d7 f1e1 e7d6 e1e4 g4e3 a1e1 d7c7 b2b3 e3d5 e4e6 d6d7 h2h3 h8b8 g2g4 b8g8 h3h4 g8a8 a2a4 d4d3 h4h5 d3d2 e1d1 d7e6 d1d2 a8f8 d2e2 g7e5 e2e1 d5f4 h5h6 c7c2 e1b1 f4h3 g1h1 c2h2',
  'c2c4 g8f6 g2g3 e7e5 g1f3 d8e7 b1c3 g7g6 d2d4 e5d4 d1d4 f8g7 c1e3 b8c6 d4d2 f6g4 c3d5 g4e3 d5e7 e3c4 d2f4 c4a3 e7c6 a3c2 e1d1 c2a1 c6a5 c7c6 h2h3 e8h8 f4c1 f8e8 a5c4 b7b5 c4d6 e8e2 f1e2 a1b3 c1f4 g7b2 f4f7 g8h8 f7f8',
  'c2c4 b7b5 h2h3 b5c4 e2e4 b8c6 f1c4 c8b7 d2d4 c6a5 c1f4 a5c4 b1c3 e7e6 d1a4 c4b6 a4b3 g8f6 f2f3 a7a5 g1e2 f8b4 a2a3 b4f8 b3b5 b7a6 b5b3 f8e7 e1a1 d8b8 b3c2 f6h5 f4e5 b6c4 g2g4 h5f6 g4g5 f6h5 f3f4 c4e5 d4e5 h7h6 g5g6 a6e2 g6f7 e8f7 c3e2 f7e8 h1e1 b8b6 c2d3 a8d8 c1b1 c7c5 e1g1 a5a4 h3h4 d7d5 f4f5 e6f5 e2c3 d5e4 d3c4 b6b3 d1d8 e7d8 c4a6 b3b6 a6a4 e8f8 a4d7 g7g5 c3d5 b6b8 e5e6 h5g7 d7f7',
  'g2g3 d7d5 g1f3 c7c5 f3g5 g8f6 g5f3 b8c6 f1g2 e7e5 d2d3 h7h6 e1h1 g7g5 e2e4 d5d4 c2c3 f8g7 a2a4 c8e6 a4a5 f6d7 a5a6 b7b5 b1a3 a8b8 c3d4 c5d4 a3c2 b8b6 b2b4 d8c8 h2h4 e6b3 f3d2 b3e6 d2f3 g5g4 f3h2 h6h5 c1d2 c6e7 f2f3 g4f3 h2f3 e6b3 f3e1 b6g6 g1h2 e8h8 g2h3 c8c7 d1h5 d7f6 h5d1 b3a4 h4h5 g6g3 h2g3 f6d5 e4d5 e5e4 d2f4 c7c3 d1g4 f7f5 g4g5 e7d5 h5h6 d5f4 g5g7',
  'd2d4 e7e6 e2e4 g8f6 b1c3 f8b4 c1g5 b4c3 b2c3 d8e7 e4e5 e8h8 g1e2 h7h6 e5f6 e7e8 g5h4 e6e5 d4d5 g7g5 h4g3 c7c6 h2h4 e8d8 h4g5 f8e8 d5d6 h6g5 d1d3 d8f6 d3h7 g8f8 h7h8 f6h8 h1h8 f8g7 h8e8 b8a6 a1b1 f7f6 f2f4 e5f4 g3f2 a8b8 e2d4 g7f7 e8e7 f7f8 d4f5 b7b5 g2g4 f4g3 f2d4 c6c5 d4f6 c8b7 f6g7 f8g8 f5h6 g8h7 f1d3 b7e4 d3e4',
  'd2d4 e7e6 b1c3 d7d5 c1f4 c7c5 e2e3 g8f6 d1f3 d8b6 c3b5 c8d7 b5c7 e8d8 c7a8 b6b2 f3d1 b2c3 e1e2 g7g5 f4e5 d7b5 e2f3 g5g4 f3g3 f6e4 g3f4 f8h6 f4g4 c3b3 c2b3 e4f2 g4f3 b8c6 f3f2 b7b6 e5h8 b5f1 d4c5 d8d7 d1h5 f7f5 h5h6 d5d4 a1f1 c6e5 h6g7 d7d8 g7f8 d8d7 f8d6 d7e8 a8c7 e8f7 f1b1 e5d3 f2f1 d3c5 g1f3 d4e3 f3g5 f7g6 d6e7 e3e2 f1e2 c5b3 g5h3 b3a1 e7g5 g6f7 g5g7',
  'c2c4 g8f6 b1c3 c7c5 g1f3 b8c6 e2e3 d7d5 a2a4 d5d4 e3d4 c5d4 c3a2 e7e5 f3h4 f6g4 d1g4 c8g4 g2g3 e5e4 f1g2 f7f5 b2b3 g7g5 h4f5 g4f5 d2d3 c6e5 h1f1 d8a5 e1d1 e5d3 c4c5 f5g4 f2f3 e4f3 c1d2 f3g2 f1f3 g2g1q d1c2 g1a1 f3f1 a5c5 d2c3 d3b4 a2b4 c5c3',
  'a2a3 e7e5 c2c4 b8c6 b2b4 f8d6 e2e3 b7b6 c1b2 g8f6 b4b5 c6a5 d2d3 c8b7 g1f3 e8h8 b1c3 a7a6 b5a6 b7a6 f1e2 h7h6 d1c2 c7c6 e1h1 d8e7 a3a4 f8d8 f1b1 d6c7 e3e4 d7d5 b2a3 e7d7 c4d5 c6d5 e4d5 a8c8 d3d4 a6e2 c2e2 e5d4 c3b5 f6d5 f3d4 d5f4 e2e4 d8e8 e4f5 d7f5 d4f5 c7e5 a1a2 c8d8 g2g3 f4h3 g1g2 h3g5 f2f4 e5f6 f4g5 h6g5 f5g7 f6g7 b5d6 e8e6 b1b6 g7f8 a3b4 f8d6 b4a5 d8c8 a2d2 d6e7 b6e6 f7e6 d2c2 c8c2 g2h3 c2c4 a5d2 c4a4 h3g2 a4a2 g2f1 a2d2 f1e1 d2h2 e1d1 e6e5 d1c1 e5e4 c1d1 e7b4 g3g4 e4e3 d1c1 e3e2 c1c2 e2e1q',
  'g1f3 g8h6 d2d4 b8c6 d4d5 c6a5 e2e4 d7d6 c1h6 g7h6 d1d2 c7c6 d2c3 f7f5 c3h8 e7e5 h8h7 d8f6 b1c3 f5e4 c3e4 f6f4 e4d2 c8f5 h7h8 f5c2 d2c4 a5c4 d5c6 b7c6 h8g8 c4b2 f1e2 f4b4 e1f1 e8e7 f3e1 c2f5 g8g3 f5g6 g3g6 d6d5 e1f3 b4c3 g6h7 e7e8 f3h4 b2d3 e2h5 e8d8 a1d1 e5e4 h7f7 f8e7 h4f5 e7c5 f5g7 c3e5 g7e6 e5e6 f7e6 c5e7 e6c6 a8b8 c6e8 d8c7 e8e7 c7c6 e7a7 b8b7 h5e8 c6c7 a7a5 c7b8 e8c6 b8c8 a5a8 b7b8 a8a7 b8b6 a7d7 c8b8 d7d8 b8a7 d8a8',
  'd2d4 d7d5 c2c4 d5c4 e2e4 g8f6 e4e5 f6d5 f1c4 d5f6 d4d5 f6d7 e5e6 d7b6 e6f7 e8f7 c4b3 f7g8 d5d6 e7e6 d6c7 d8d3 d1d3 b8c6 g1h3 a7a5 h3g5 b6d5 g5h3 c6b4 d3g3 e6e5 a2a3 c8e6 g3e5 b4d3 e1e2 d3e5 h3g5 a8e8 g5e6 d5b6 c1e3 b6c4 e6f8 b7b6 h2h3 g8f8 b1c3 e8c8 b3c4 e5c4 e3f4 c4b2 h1c1 c8c7 f4c7 f8e8 a1b1 b2c4 b1b5 c4a3 b5b6 a5a4 b6b8 e8f7 b8h8 h7h6 c7d6 a3b5 c3b5 f7f6 h8f8 f6e6 c1c7 g7g5 c7e7 e6d5 f8c8 h6h5 e7e5',
  'd2d4 g8f6 a2a3 g7g6 c2c4 d7d6 b2b4 e7e5 c1b2 e5d4 d1d4 f8g7 d4d1 e8h8 g1f3 a7a5 b1c3 c8e6 e2e3 b8d7 f1e2 a5b4 a3b4 a8a1 d1a1 c7c5 b4b5 f8e8 e1h1 h7h6 c3a4 f6h5 f1d1 d8e7 b2c3 e8a8 h2h3 g7c3 a1c3 a8a4 c3b3 a4a8 d1d4 c5d4 f3d4 a8a1 g1h2 e7g5 d4e6 f7e6 c4c5 g5e5 f2f4 d7c5 f4e5 c5b3 e5d6 b3c5 e2f3 e6e5 f3h5 g6h5 b5b6 c5d7 h3h4 a1g1 h2g1 g8g7 e3e4 g7f6 g1f2 f6e6 g2g4 h5g4 h4h5 d7b6 f2g3 e6d6 g3g4 b6a4 g4f3 a4c5 f3e2 d6c6 e2e3 b7b5 e3d2 c5e4 d2e3 c6d5 e3d3 e4d6 d3c3 e5e4 c3d2 b5b4 d2e2 b4b3 e2e3 b3b2',
  'c2c4 a7a6 e2e4 c7c5 g1e2 e7e5 b1c3 g7g6 h2h4 g8f6 e2g1 f8g7 h4h5 d7d6 a2a4 f6h5 d2d3 h5f6 c1h6 g7h6 h1h6 e8h8 h6h4 b8c6 g2g3 c8e6 f1h3 c6d4 e1f1 a6a5 a1b1 f8e8 b1c1 h7h5 g3g4 f6g4 h4h5 g6h5 g1f3 d4f3 d1f3 d8g5 h3g4 e6g4 f1e2 g4f3 e2f3 g5g4 f3e3 h5h4 c3d5 g4g5 e3e2 e8e6 c1d1 g5h5 f2f3 g8g7 d1h1 e6h6 e2f2 h6g6 d5e3 a8h8 e3f5 g7f8 f3f4 h5g4 f5e3 g4f4 f2e2 f7f5 h1h3 f5e4 d3e4 g6g1 e2d3 f4f2 e3c2 g1d1 d3c3 h8g8 h3d3 d1d3 c3d3 g8g3 c2e3 g3e3',
];

/** One call of the network. */
export interface SampleBatch {
  readonly rows: number;
  readonly planes: Float32Array;
  /** For each row the policy indices of its legal moves. */
  readonly moves: readonly (readonly number[])[];
}

const BATCH_ROWS = 8;

/** @returns the positions whose ply in its game is `first` modulo PLY_STEP, in full batches */
export function createSamples({ inputEncoding, policyEncoding }: Model['format'], first: number): SampleBatch[] {
  const { planes } = inputEncoding;
  const masks = new Uint32Array(2 * planes);
  const values = new Float32Array(planes);
  const batches: SampleBatch[] = [];
  let expanded = new Float32Array(BATCH_ROWS * planes * 64);
  let moves: number[][] = [];
  for (const game of SAMPLE_GAMES) {
    const position = new Position();
    for (const [ply, text] of game.split(' ').entries()) {
      if (ply % PLY_STEP === first) {
        const transform = inputEncoding.writePacked(position, 'fen_only', masks, 0, values, 0);
        expandPlanes(masks, 0, values, 0, planes, expanded, moves.length * planes * 64);
        moves.push(listLegalMoves(position).map((move) => policyEncoding.moveToIndex(position, move, transform)));
      }
      if (moves.length === BATCH_ROWS) {
        batches.push({ rows: BATCH_ROWS, planes: expanded, moves });
        expanded = new Float32Array(expanded.length);
        moves = [];
      }
      position.makeMove(unwrap(parseUciMove(position, text)));
    }
  }
  return batches;
}
