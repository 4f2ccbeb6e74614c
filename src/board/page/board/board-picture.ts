/** The board as a picture to share: squares, pieces, and the arrows and circles that are shown on it. */
import { listSquares, PIECE_NAMES } from '../../game/page-text.js';
import { readColor } from '../shell/appearance.js';
import { saveFile } from '../shell/user-files.js';
import type { Side } from './chess-board.js';

const SIZE = 800;
/** Of the numbers that the page's style sheet draws. */
const TEXT = 'font:700 20px sans-serif;fill:#1c1a17;stroke:#fffe;stroke-width:5px;paint-order:stroke';

/** @param side at the bottom */
export async function saveBoard(fen: string, side: Side, format: 'svg' | 'png'): Promise<void> {
  const svg = drawBoard(fen, side);
  if (format === 'svg') return saveFile('position.svg', new Blob([svg], { type: 'image/svg+xml' }));
  const image = new Image(SIZE, SIZE);
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = new OffscreenCanvas(SIZE, SIZE);
  canvas.getContext('2d')?.drawImage(image, 0, 0);
  saveFile('position.png', await canvas.convertToBlob());
}

function drawBoard(fen: string, side: Side): string {
  const squares = listSquares(fen);
  const draw = ({ letter, file, rank }: (typeof squares)[number]): string => {
    const [x, y] = (side === 'white' ? [file, rank] : [7 - file, 7 - rank]).map((at) => 100 * at);
    const dark =
      (file + rank) % 2 === 1 ? `<path d="M${x} ${y}h100v100h-100z" fill="${readColor('--board-dark')}"/>` : '';
    return letter === ' '
      ? dark
      : `${dark}<image href="${findPiece(letter)}" x="${x}" y="${y}" width="100" height="100"/>`;
  };
  const shapes = [...document.querySelectorAll('.board-area > .board-wrap :is(.cg-shapes, .cg-custom-svgs)')].map(
    (own) => {
      const copy = own.cloneNode(true) as Element;
      const place = { width: SIZE, height: SIZE, opacity: getComputedStyle(own).opacity };
      for (const [name, value] of Object.entries(place)) copy.setAttribute(name, String(value));
      return new XMLSerializer().serializeToString(copy);
    },
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${SIZE}" height="${SIZE}" viewBox="0 0 ${SIZE} ${SIZE}"><style>svg{overflow:visible}text{${TEXT}}</style><rect width="${SIZE}" height="${SIZE}" fill="${readColor('--board-light')}"/>${squares.map(draw).join('')}${shapes.join('')}</svg>`;
}

/** The picture of a piece as the style sheet has it. @param letter of a FEN */
function findPiece(letter: string): string {
  const host = document.createElement('div');
  const piece = document.createElement('piece');
  host.className = 'cg-wrap visually-hidden';
  piece.className = `${PIECE_NAMES[letter.toLowerCase()]} ${letter === letter.toLowerCase() ? 'black' : 'white'}`;
  host.append(piece);
  document.body.append(host);
  const [, address = ''] = /url\("(.*)"\)/.exec(getComputedStyle(piece).backgroundImage) ?? [];
  host.remove();
  return address.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('\\', '');
}
