/** What the tag Variant says of a game's rules. */

import { cutText, failure, type Result, success } from '../../base/util/index.js';

const CHESS =
  /^(?:(?:standard|regular|normal|classical|orthodox|international|fide)?(?:chess)?|orthochess|fromposition|wild[0-8]a?)$/;
const CHESS960 =
  /^(?:chess9lx|d?frc|wild(?:fr|22)|(?:(?:double)?fischer(?:e?andom|random)?|freestyle)?(?:chess)?(?:960)?)$/;

/**
 * Whether the game is Chess960. Blanks, hyphens and capitals do not matter: `Chess 960`, `chess-960` and `Freestyle` name the
 * same rules. A variant with other rules is an error that names it.
 */
export function readVariant(tags: ReadonlyMap<string, string>): Result<boolean> {
  const variant = tags.get('Variant') ?? '';
  const name = variant
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  if (CHESS.test(name)) return success(false);
  return CHESS960.test(name) ? success(true) : failure(`the variant ${cutText(variant)} is not supported`);
}
