/**
 * Positions of `bench`: every phase of the game, quiet and sharp, with castling, promotion and en passant at hand. The
 * list and its order are part of the signature.
 */
export const BENCH_POSITIONS: readonly string[] = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  'r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3',
  'rnbqkb1r/pp2pp1p/3p1np1/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6',
  'rnbq1rk1/ppp1bppp/4pn2/3p4/2PP4/2N2N2/PP2PPPP/R1BQKB1R w KQ - 4 6',
  'r2q1rk1/1b2bppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/R2Q1RK1 w - - 0 13',
  'r4rk1/pp3ppp/2pq1n2/3p4/1b1P1Bb1/2NBPN2/PPQ2PPP/R3K2R w KQ - 5 11',
  '2rq1rk1/pb1nbppp/1p2pn2/2pp4/2PP4/1PNBPN2/PB2QPPP/R4RK1 w - - 2 12',
  'r1b2rk1/2q1bppp/p2p1n2/np2p3/3PP3/2P2N1P/PPBN1PP1/R1BQR1K1 b - - 2 13',
  '4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19',
  '3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22',
  'r3r1k1/2p2ppp/p1p1bn2/8/1q2P3/2NPQN2/PPP3PP/R4RK1 b - - 2 15',
  '3q2k1/pb3p1p/4pbp1/2r5/PpN2N2/1P2P2P/5PP1/Q2R2K1 b - - 4 26',
  '6k1/6p1/6Pp/ppp5/3pn2P/1P3K2/1PP2P2/3N4 b - - 0 1',
  '3b4/5kp1/1p1p1p1p/pP1PpP1P/P1P1P3/3KN3/8/8 w - - 0 1',
  '8/6pk/1p6/8/PP3p1p/5P2/4KP1q/3Q4 w - - 0 1',
  '7k/3p2pp/4q3/8/4Q3/5Kp1/P6b/8 w - - 0 1',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
  '8/pp2r1k1/2p1p3/3pP2p/1P1P1P1P/P5KR/8/8 w - - 0 1',
  '8/bQr5/8/8/3N4/8/5k2/2K5 w - - 0 1',
  '5k2/7R/4P2p/5K2/p1r2P1p/8/8/8 b - - 0 1',
  '6k1/4pp1p/3p2p1/P1pPb3/R7/1r2P1PP/3B1P2/6K1 w - - 0 1',
  '1n4k1/P4p2/6p1/1q6/8/3P2P1/5PK1/3Q4 w - - 0 1',
  'nn1bkq1r/pppppp2/8/6pp/8/4P3/PPPPBPPP/NNQRK1BR w Hh - 0 1',
];
