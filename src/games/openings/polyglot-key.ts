/**
 * The hash of a position in Polyglot books: the XOR of 64-bit constants that the format fixes, for pieces, castling
 * rights, the file of an en-passant capture and the side to move. It is computed from the FEN, since books are read rarely.
 */
import { formatFen, type Position } from '../../chess/rules/index.js';

/** Constants in the order of the format: 768 of pieces, 4 of castling, 8 of en-passant files, 1 of the side to move. */
const CASTLING = 768;
const EN_PASSANT = 772;
const WHITE_TO_MOVE = 780;
/** In the format's order. */
const PIECES = 'pPnNbBrRqQkK';
const RIGHTS = 'KQkq';

let constants: BigUint64Array | null = null;

export function computePolyglotKey(position: Position): bigint {
  constants ??= decodeConstants();
  const [board, side, rights, enPassant] = formatFen(position).split(' ');
  let key = side === 'w' ? constants[WHITE_TO_MOVE] : 0n;
  const rows = board.split('/').map((row) => row.replace(/\d/g, (empty) => ' '.repeat(Number(empty))));
  for (const [index, row] of rows.entries()) {
    for (const [file, letter] of [...row].entries()) {
      if (letter !== ' ') key ^= constants[64 * PIECES.indexOf(letter) + 8 * (7 - index) + file];
    }
  }
  for (const right of rights) if (RIGHTS.includes(right)) key ^= constants[CASTLING + RIGHTS.indexOf(right)];
  const file = enPassant.charCodeAt(0) - 97;
  if (enPassant !== '-' && hasCapturer(rows, file, side === 'w')) key ^= constants[EN_PASSANT + file];
  return key;
}

/** Whether a pawn of the side to move stands beside the pawn that has just moved two squares. */
function hasCapturer(rows: readonly string[], file: number, isWhite: boolean): boolean {
  const row = rows[isWhite ? 3 : 4];
  const pawn = isWhite ? 'P' : 'p';
  return row[file - 1] === pawn || row[file + 1] === pawn;
}

function decodeConstants(): BigUint64Array {
  const bytes = new DataView(Uint8Array.from(atob(CONSTANTS.join('')), (letter) => letter.charCodeAt(0)).buffer);
  return BigUint64Array.from({ length: bytes.byteLength / 8 }, (_, i) => bytes.getBigUint64(8 * i));
}

/** Big-endian, in base64. */
const CONSTANTS = [
  'nTkkfjN3bUEq9zmABaqlx0TbAVAkYjVHnBX3PmKnauJ1g0RlSJwMiTKQrDogMAG/D7utH2EEInnoOpCP8vtgyg1+dl1YdVwQGgg4Is6v4C2WBd',
  'Xw4l7DsNAh/1zROi7VQL3xXUpnLjIBE1UUb9VjlV20gyBG89nlI5+LLX/3GcwF0aGuhbSaoWefhI9uj8lxdEm7/4Af7Qt9Ec2xw7et8ILHcJ54',
  'HrfM8yGPHJUQeGwzFHjzr1G75kuzjeXnIZRDqmScbrz9UPyNvZijUq/UC4fSB0uB15IXGfPHUdPpKuG0qzDwYrGav3sFAKxCBHrEyUUsqBoJ2F',
  '0kqmxRTaJ1AEyfNEJ1AbRHFKaP1zyRCEGnG5uDRhy9kwNIi5Ww8YUPY3srNP+TwEAJ0byaPdkKlDV1ZoM0od07c14rl6TEWiMYcnBw8b1ACx/L',
  'rNJZvwLn0xCnws6bZVW/mD/g/l2CRJ900U90VKgkUevcSrm6MDVcgsUF25qw+vz3/oo0MLJBMlOnKbm6Pd6MdMNoCBswdbm8bIcWfDPnfvSPK4',
  'MCTiAR1QXUw1G9f2Vo/KksdqJDTeCw9A8yp7iW1pNGDMN+XULiQMtjaJ8vbSvc2uKRlmFCiAsCNuTZUV8PSliYFxu2OfiQ9Xn5L4iTxbX0c1Y4',
  'i2PcNZ2NIxt47BbKiuqYrXZTVfkAwqgtxwf7n4VamXFCUJNBeqin7V57y8ONolp/PBn8inaM9LbUY3p3gN7PwNmCSaR67g5B93mtaVUB59HoFK',
  'y69Hd9V3bxRba+zN6hldq/KsggF1L8JMPJTfnI0/a7bikk8DkS6gzibAuVyYDZpJzRMr+/fMTpnWYq9CQ5OSfmrXiRFlw/hTXwQLl0T/FUs/T6',
  'X0DYc3KxLDISf+0r7pVNPHtBH0eahayQmiTqoXCsTNnwTyH1+bidPpmgdcKHs+KytckHsaNm5bjFT0i4rkqTRsw/fPIZIMBNRyZ7vYe/Asa0ni',
  'rpCSI3rCN/OFn/B/ZO+O0U0I3o3KnwPMVOnBYzJk20nImz8iw9Cws47TkOX7RNARRLW/6ltHEnaOkeEDKRH6eJhJp0rLlk54yzT4D3oDXa+wRj',
  'BNCaCzc4xCFx5kaDAjoIW5tj65zv+AxQaqz0iYiTQhiBr8mjpwHWZQMIBEB1BkTf05UznNv0p++SfbzwDCDyezL30eA2gOy5/XYg5zFiQwWn6K',
  'V9uRt3tYicbhVjCnVKdQoJzpVz989GTOyJmi+K9ThjnOcFuCQ8eaD/VYDvf+3myH+Ed2CdeZ6B8FvJPzGGU2uM80KKjJfXN0xgCHtzokZjfP8y',
  'hTIEP8rmDMDroJIORJU13TWecOsJOxWykMxzoZIZFlkcvVZDbJ/hoaqN76xLcGM7j4G7IVeY1F33r0XyAELyTxdokw+A9OjrdGL/ZxL/z9deoa',
  '5iP9Z0aKpw3SxbyEvI2Px+7RINVM8t2SL+VFQBFl8cyRgA6Y+5mSmAi9aOasEDZd7EaBRbdgX2G+3jo671MwJDU5YD1sVWAqqWm1xpHMt6qHgy',
  '05Lv7lZllCx7PH4Rrt7S1jPK0AT2IfCFcPQg5WW0FZONfalOPJG4WeWey2NQEM/zM+DtgEoortFAvgu33cXMHYlyT6RWVkj2gPEaJ0EtJVBp8L',
  'fas5vFo473KavU7y8FQwj2oryvIEL1zFwoWEgEErq39b4qrvOvSlY9/kMZr+Wa5FFJf1JZOAPf8ehA9PB25l8s5vARN5YldH1a87zl0iSGgsEV',
  'naQkPeg2mU8Gb3CzP+CQF03E3hibZxocUQOat3EkV8PAej+Awx+0tLRu6cXmSm58s4GaQqvmHIchoAeTOlIqIC3xb3YVmKpPdjxKE3GzaP33k8',
  'RnAuCGoNcojgEq640x3jNqKkvBxEsL9pKzjQefIyxgSnoXcyazSFDnPgPrYGTPxEfx5TyOG7Bco/VkJo2ZmuGCyLyUdOik/EvU/FVYyudVF41Y',
  '/E52abl9saTAPf75tbfErMZ8lvxqgtZLhlX7nGhMtsTSRBeOyX0pF0Vu0GcD350pJOl+xUf1fkKnRE5443ZE58rSnv6aROk2LwX6CL01zDgzZh',
  'WTFeXrOhKazpQGG4ceBN913x2fnXhLoBA7ule2iHG1ndK3re7e0fc/96JV2DvDc/jX9PJEjAzrgdlb6IzSEP+nM29S+P9HKOenQEnawxKscaL2',
  'G7bkN/21TypcsH9qNbOH04C9pb94WRa59+BsRTohe6JITIoP1U7zpnjK2aLjjDmwv33eQ3ui/K9Vwb+KRCQY/PaAVz+llEwFY7ifSVrDQOCHkx',
  'oAkw2M/6lBLrZCwWjKOQUyYRafeh7pZ9J1eeKdHWDlB29bbzgQ45m29luiMglbbUq1+bE1yrYhCd0DiqkLJEmfz6+xd6IloHzCxr1RPl5jTHDj',
  'MUNhwMo/aS8S2UGspEsgpFtSj3yGAsWAe1Krkr65YTmJnR36LvxVf3NyL/F19XLDSB0SYKURB/6XeiSaV+wMm6IEII/p6Pfy1loRDGBYuSCgDN',
  'mkl2WKVphW/SPI+XFaTChMhHudiHquBP6r+722Gct0Lh5lHGC6g5qWMuZZBK08iBuCoTtRueJQbmdEzZdJJLAYPbVv/Gp5Dtm5FcZu035eEeht',
  'WHPUhPZ4ZH41GaxuG4XUiNDyDMXauf5lJdiQIQ0VHYattzYVqGWlTtzA8BmTxCVmrvmP+5nnr+q+AAcxSMv/CG3fKFp/m2rx6/eLr1hifhoUm7',
  'ohLNFuKr15HjPTY+/18Jd5lgzio4w0Sm7tGoBKrbnPp0GQfzBCHXjF3lAfZe2zA00HN2JK5aSPpumVe69hcAz/TjpsJ5NOMRiK1JUDU2q8o0UI',
  'jgSVicQy4PlDruf+vyG4bDuOPjNhOdM2T2/6Rk7lLtYPbc7cMUIiVpY7DcpBj8AW9Q7fkeUTr+8ZVZFLYJ+TVlYBwDZOMijstTk5iH6BdbrHqa',
  'GFMSlLs0TEcDl7ulJl00lU2vPOvbS4Gz+pdRHitCIGEZPW9qcHFYJAHDhDTXoT8Yu+3E/1vECXsRbFJNJZuXiF4vLqKJkXCl3DEVVEb0IzV+fG',
  'qfkyWSjubm+HlNDkNmIosDNDVlwx996J6icw9WEUhBGUFNhz2zkSku1Pe9lOHY4X3rzH2fFoZKdulJR64FPuVuY8yMk4gvlHX186m/VbqR+Byt',
  'mhH7s9mAjkD9IgY+3Cn8qz8lbYrKCwubAwMai0UW6ENd031YcUSK/p9ggrBVQuTuv6+jPXJUtZklWrtQ1TIoC5q0zlfy0082k1AdYoKXVRxixY',
  '+X3ZSb/NRU+PGcUSarvoP07MK97L3IQrfigZ4jC6iRQuAHUDuKO8lB0KUGHL6fZ2DjLNgCEJx+VSvHZJL4UvVJNNpVzJgQf8zwZPz1YJiVTVH/',
  '9lgCO3DtsZVcS/wzDeQmQw9p1HFe1D6KRcCqjX5Nq3gKCNBXK5dPA84Lu1fS6YXhQZx+jZ7L4s89c/L+SxcXDll1ARMXuoeQXnkH+/IeyKH0Xs',
  'FyXKv8sEWwCWTpFc1eKyBz4ri8vwFtZtvnRE45MooKz4WytPvN5Et0k1P+o5umOxHdAar81TSGofyoqS/XGfhfx8ldgnNXr6GKapkMizXr3My3',
  'AFxrnCjTvbuSxDsX8mqnC1tPiWlaLpTDmlSpgwf7egsXTP9vNu1NuoRymvSK0uGLwa2XBKaC3glm2vL4scucEdWx5DoH5kly1o3uMzYJRijTjQ',
  'wgWE28DStquQpVnSczxDNcanL3512Z2Upw9NbO0ZgzdvpyuX/KrL8DC8JHt3SXsyUDsShUft37gcy5R5mZzf9wkCy8/+GTlDjpskgpYm44ktld',
  'eS+uJCkfKz8WPiLBR7nDQDxni22GAoShxYc4iIUGWa5wmB3NKWqHNtn2V4mmUJpECf84/tcukFL+R57luZMFeM5/KOzS1J7s1WwHSlgeoX/lVE',
  '99d0sUrvez8BlfxvKQ8SFTY1ssDPV39RJtu6XgynenaVbD6vtBM9V3ShHTGrOYobCDgh9Ay0e0o44yU332KVARNkbR1uA02ol5oAQeipO8NuB4',
  '91FdddChLyetMQ0X+dGi4evhMn2jo2GxxRV7Hc3X0gkD0MJTaDMzbQaPcHzmg0H3mJM4mrkJAWjdBfNEOVSzJS3CXltDjCtn+Y5ekQ3NeOOFGk',
  'ktvCerVEeCK/mzzbZfgso4K2e3iWFntMhL/O0bAEjqxQqRGbYDaf/r0f/3rICQS/RawS+xcYF+7nrwjakXfdqT0bDKuTbmXHRLVZ6x0E5ekyw3',
  'tFs/jW8rrDqdwijKrJ6fO4tmdaZQf/n8R33k7WgdpnN42OzO+Wy23YVtlNJZI2oxnOFbC02zEHOXN1HxLdXoqOhJ6zJ4Gl4ZJccShSefV0wEvx',
  'eQwO/k3aSBU8lJOKnSZtahzAVCx0QPuBZQjE/hMyhQPfSCKf1r97ruQ8rEBIONZfbvZ0jx4VIyjzMY3qj4QZo0jylr9yyINKWVe1EdegI6cyYL',
  'RclOvIq8+1ba6fwQ0PmJmT4N5oojVbk8rmpEz+ea5Ti76dHYT8zjcUJVHSsast37Y2L9fkuecs04xlyluWt1UiEN1poNirO1RtYE1Rsl+/cOJz',
  'qopWT7esnhqMHpkrlBFIqsQKJwPZvqB2Tb6uf6Tzph6ZuW5wqb6LLF6d61fvR0M6k4/uMtKZgSbm24/99a3+RpNWxQTsn53IdjxbCNGQjD9sav',
  'hZ2ABVf3zDlCCjpUWb+yJ+vfTFzokDnXnW/Fxcj+iLVzBeKragnoyMNauW3vp+OTmDMldT1rbQ7MYXxpnf6iHqnnVX47Z8H6SBaAr4yh43hann',
  'JOUc/IvtDWgWOdGNhUnRQMrqTtD+fp3JEzXk2/BjRHP10hdh+TpE1a7+U4mOTDkQ2lVzTegYH27DmiaAsSK6oo2XKYryMchbr6t5g+7TdAhH1W',
  'bBoqGmDNiJnhfklkKj5MHttFTnutwIBVC3BMq2AsMpTMMX+5zd0CNmtINdnq/qIiGbl+Jv/IG9Jh5OTAozOp0f4synZRfbkNdQTfqIFu27uVcf',
  'oE3Aicgd3AMlJZsn3s8/RoiAHrmq9PXQXBDKskM4tlJcIaQrDjb2Diuk+mgA6zWTgDFz4M6cTNYlfFo2A68MMX0yraqKJY5agMcgTEuLiJ1iTU',
  'SIXfTRRZfmYPhV1DR/ZuyJQcPmme2FsN+0DSRy9iB8LQSEwqHntbRZrrWrT2RRzB1F7GN2dXKuPWF0pZ4L0QFzGigRbQAWy5SPCSz5yMoFL26f',
  'CwkKdWCpaOOr7t2y3eBv8VjvwQsGogaNxuV6ePvZhuAuq4ymPOgC1xShlWQBFvM2fAgo3WJOw5DXS7535hFqx4BEVq8Q9ftT6+nqKt9DIccDIZ',
  'o57lh6MEl4f+8Xr5kkoekwDNhSBUhbReUi5LG077ScOzmVCRo21EkK1SbxRDESqPIWr5QYwgAfg3zHNQUkGHe1HlenZNWihTuA8X9Y7pk+Hect',
  'NtMQs1mAgM5kplYlL1nPDZ8Eu9I8jhdtETYAG9oEkufkWG4h4L1QJsYZvzsJetrwiPlOjRTe2zC+hG75XP+iOvX29DhxcAdhs/dDymcrkenk+h',
  'ZkyOUxv/U7VSQSYO1K0eh9EGwJuXLS6CJ/uhlUEOXKMHiE2bxstWnYBkff7c2JSiljVz/wPiJHdE/I6VYPkbEjHblW5FAnV3m42RJ0uenU+6Lr',
  '7kfi+/zh2fHzDM2X+wnv7VPXX9ZOay5tAsNgF/Z/qapNINsITpu2S+jYslOWwXDLavfC1bzwmPB2pPeiMi6/hEcIBeabX5TDJR8G+QzzPgA+YW',
  'plkem5JabNBCGv82G90TB8ZuMAv41RCOJ+DUgkCrV6i4iLIPyHYUuvKH4H7wLN0G/9tDKhCCwEZt9sCoIV5XcAEzLI05u5w6SNts8nOCWWNDBc',
  'FGHPT5TJffk9G2usoq5OElt1j0UMiFcuC5WfWH1QeoNZsGPpYuBF9U1g6O1ywN/10Xtkl4VVMm+f/QgNI22oFLqMkP2bCD9FWBBvcv6B4sWQeX',
  'YDOjn32VKk7AEydkygS3M+pwX65Pp3tNj3e8PlYWeeIfT5A7M/2Z12XkGftp9t0wwIi6Yepe9dlDN/v69/WxpOSCLrTXpZb/5z6Btjf7Pd+Ve8',
  'Nti5ymTQ4p7qiDizCN2b39lrn2MIfnnlpX0dE+Mo4jDj4rP7HCVZ4w8JRr5yC/Xyb00uqrB3TSYcxgnbRD9k7Fo3EZVBEs9oZJomDtgT8vq39c',
  'XKZg0yVzgIQe5ZrCx4c/kQo+hGljh3ZxoXk7Yzq/o0afjAwPWmDvTNz8ryHs1Dd7KMVyd3BxmbgXVQbBG52Q6LHdg8wmh6GSVfSinGRloxTNHt',
  'LfISFiNQl7VjXJX/cpbiIq8AOrZy6BFS52JZa/aCNZrrozrG7MawlE9t4JE037ZsR77Ig6feOWrQR8QwoSEEpbHP26CrQGd8Rdgzr/B4YlCS75',
  'UKFtoLkzjmnAUrjntFWktM/jDj9WsC5jGVrQz4axeyJLrWvyfR4MzSW7nBad4MiaVWua5wUAZeU1ohPPacEWn6J3e4dHjt79aUrx7tbck9lSal',
  'Dmjul/RT8GeR7TKrDttpZwPTOmhTx+cHV6cxhlztYSDzfWf++V2SYHiQHysdHxX23Jy2njiollxrZaqRGf8YTMz09DxzKHPyTBP7Sj15SpqA0j',
  'VQwjIf1hCcNx9352u4QX5r+pquXsBXec0E8/8AGkd44yc1IgZEgMqfkVCL/8/BSgSaf0EGGp5g/La+Q6ny/psI3oocd5fam4+Yh+YHhzWhtbQH',
  'Hb/HOmYjDjQ9+6CNM0Ptf1oPrmV9Ooig+7ywXGMhh0uLTS28TxveoS419qjJU8BlxsjmNSjjSh0lDnqNa9awTTt2Ud1+XpAnfnyzni0sBG8iBi',
  '3GfbELtFkTLQomP6nd+2fi8ZkOCbiOGRT3rxDos1rz7qs3nu3sqOJyuTPUxxi8SuiuX4FTbWARcPwgkbU0+IWBigbsgXf4P5AJeBkOcU+tpRVu',
  'tZK/ObA2SWOJw1DIk659wawELnD4s4PytJtS5Yeh7mD7FS/j/ybaiT5mbm9priwVO1ROvlRMGfnoBaHikM8kViSzPJ1+0lEX50czQnty8MEKgE',
  '0Ytwl0dVfjMG2IHttPSufWo26128stjVQyFXBkyNHmSd4efyaLijKKHO3+VSwHo67HliTH2oRUfdw+IDyUmQqY/VBx0mMaT/EmFu78ifb3/RQx',
  'cUIAMMBbG6My9ByNJja4FVWnhkbJ/rVdEgkCzOwKc7ScmSFOnSgnNV/EkhnrsClDXcsPRlnSt0OEiiyWPvLJazO+MXT4UZiwWi59Wg9UTdKx+x',
  'gDcnBzwuE0scf2qi3lmuphNSeHuqDXwi+YU+q2O14LNau9zdftXAhgzwXa9ayNd7BJytSM6/SnHnpMEOwhWMSm2ekqoka/cZ4TrpeNCf5VV3ME',
  'ma+SFUn/TktwW5KQO6T/V3IiwU8KOlW2NEz5eq+uuGIiWwVbaWDKwJr73dLNtNr46YKf6Wtftf38XTEyxJgxDLOA2291A+h/u0YhejYOIQKuRm',
  '67EUj4VJ4aOqXgDQemmv3MQiYaxMEYv+eP6q759Iku2WvUOBrz2+Jdj0Xa9bSwsNLe7rSWKs7vqC4chARuPsqvRTzp8F0SloGUmkyWR4HOc0s8',
  'hJwu1ECBzl+9Ui4j85JeMZ4XfgD5/DL3kSvGCmOm87PyIiu/rmFyVgZIYondzD1ngH3HeFuO/fyAivOHMcArqYAfq2TqKaLd9+TZQpMizQZana',
  'BYxnhE8gwkwOMytwAZsCMwA7Wmz+at1Ya9AcXCF/ZeVjeIXym8K366cm2MlAlLClal8L/jknLXlHaoTuINBp5MEmm6pL83F+/uRbDe5kAdlbCl',
  '/PkLxpPL4LaZwlhdZfpPInorbXnV+ehYKSUE1cK1oD9xRxpvWTACIrRWHgDOL4ZCygcS3Hypcj+7LomIJ4Uzg0fyugjGG7OhQeUOjBUPNh2rne',
  'wmn2pBnTgllfRkpT3JJP56yRQt5J//enw9DDNSSIV/qecKnDLV6uRTBebEIXjEu7kucfHOJJDSCwfxvMPSda/lGuco6Mg8M0B0lvv4OhKIRiSB',
  'oVSf1lc9pV+nhnyvNeFJVphuLvPtCRuRfx3V+IhsYdINjIjI/+ZfMdcdzmSywxDxZbWH34mBkKV+YzndLPOgHvbm27GWHslwzHPZC8JuJOIaaz',
  'XfDDrXADqT2LKAaWIcmd7TPLiQoc8xRd4K3UKJ0ORCelUU+3J3xiHMn7Okg2ejTaxDVlUL+NYmqq8nhQk=',
];
