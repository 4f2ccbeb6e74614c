/** The same games in every packing that is read, written by the usual packers; and small archives. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** Two games, as a.pgn and b.pgn. */
export const A = `[Event "Rated Blitz game"]
[White "Müller"]
[Black "b"]
[Result "1-0"]

1. e4 { [%eval 0.3] [%clk 0:03:00] } e5 { [%eval 0.2] } 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 1-0

[Event "Rated Blitz game"]
[White "c"]
[Black "d"]
[Result "0-1"]

1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 Nbd7 7. Rc1 c6 0-1

`;
export const B = `[Event "Rated Blitz game"]
[White "e"]
[Black "f"]
[Result "1/2-1/2"]

1. c4 e5 2. Nc3 Nf6 3. Nf3 Nc6 4. g3 d5 5. cxd5 Nxd5 6. Bg2 Nb6 7. O-O Be7 1/2-1/2

`;

export const decode = (text: string): Buffer => Buffer.from(text, 'base64');

/** As pzstd writes: a skippable frame before each frame; the first one was packed with --long=31, the second without checksum. */
export const ZSTD = decode(
  'UCpNGAQAAADWAAAAKLUv/QSoTQYAwgsmHoBvMc2gCZpJLflIsBRf1sVkn8XfsbFxPwypoZ0eAVLaoL7It7k5NW5IUXE1QU3Lb170h0xIHyQbVClLWQN7QyNnAuaUeDHg4QU+ESGn90VefqflVBAI/fBQrcetR/21M3Rp/caeBp6DH/SplRKaNbDz3O423UTzV8Yb0fTe4qjMa86qnEdCU2OY+sdZG7mkOdzMc5n2kicSAChLETCNsGGOhf3A0keTPywN3AF+LjMYNENankDTAsJmIBbFLQF4L8FVwSwDKH3Xm18qTRgEAAAAhAAAACi1L/0AaN0DAIJHGBdweTXYakTohDR8ZoF/8AaToFqWVX9/R+992HkCJMdj+dAHaR4l5erR2IAmpGOxrJFYRnSi0uOwYS/qUXjAEAjwa2mZVSJ4VR1rwu2lpoV5DbSXI91dyppD9joK/GJ2Q5gJCCCxcbJAo7hXrAtQRdsELxMY31F5Ag==',
);
/** Two streams of different block sizes. */
export const BZIP2 = decode(
  'QlpoOTFBWSZTWfb0PvcAAGPfjAAQUgN/kBIDkIo/7x8aAAQIADAA1W0JUFNtKZlD1PSANA9TQ0aAlVP9Jop6gDI00NNAaAAJQkaQHqYgZANGQHklZOcCAhB3LUc2WfoNT80RvENioGduJpZIVSYjiObJblljMSpiE1CTwpGloiuynjyRZJa58M9rHwUywxbUbhO9ChGwYruJUuTjdVKUiHXU7kRpYCZxQ2vMyG4UU0siQFGFcCpABwD66Oz+hEqLzK69jWILkUkOqLaGA0KxpAjArIA5DyehCwXUPGUdKROVIPIkSYUkTkSsgGOP8XckU4UJD29D73BCWmgxMUFZJlNZvzeiuQAAMt+AABBQA7+AEgGQij/vD1AgAHIinqPRD1BoABpoaNqDU8lCHijyTygyNqACutIkehn2nKYINdvSCxJwTlvX6QwjoWDB8FsjWMUBjQPpWxc0rXMjOjlfdZry7Qkhzy9hABAeINaEoujMUDid5OJDWYKWHj671AjGAqECFEqO38XckU4UJC/N6K5A',
);
/** README.txt stored, a.pgn and b.pgn deflated; and the same with sizes behind the data, as a pipe writes it. */
export const ZIPS = [
  'UEsDBAoAAAAAALqZeV2zkOQWBwAAAAcAAAAKAAAAUkVBRE1FLnR4dHJlYWRtZQpQSwMEFAAAAAgAuZl5XZFQcUjJAAAAQQEAAAUAAABhLnBnboWOu26DMBSGdz/FL6SOWAbbIGVEyhiQWDIgBmOfXBQnQ0oztOqbZeuL9RhlYMv2n+v3DdsH3WZkvZspoInn+RtHd6VsFMP+dJ4J2e7vGSPdU6eJzl+QTSn39PkV+bLIFZeikCCDHwwf9HARSuqRs48XqI3SG6VG/ILseqNMrVKiPWi0voKWaCYLV8FwcoYHFaxEl3doqAaThBjeC/uValirqrx4qQaDYBPbG9BCbr1eeAl9tAuP0aQXevWSnEKNWqL3BdiX3wnxD1BLAwQUAAAACAC5mXld5biGpIAAAACbAAAABQAAAGIucGduLYwxD8IgFIR3fsWFvZhCoTuJK026ODQOSB+1kbqIxvjrfTUOd/fl8t5NxxfdK+QYK83wZa0fLHEjeRbT6bpWgvyxLzHdIPPOIz2ehX/ag25YXIlWIXUgC60QkkHIDoYxMyaHTmExmC0s3705w25OwS8a4eLQKwzNAE89/qtCfAFQSwECHgMKAAAAAAC6mXlds5DkFgcAAAAHAAAACgAAAAAAAAABAAAApIEAAAAAUkVBRE1FLnR4dFBLAQIeAxQAAAAIALmZeV2RUHFIyQAAAEEBAAAFAAAAAAAAAAEAAACkgS8AAABhLnBnblBLAQIeAxQAAAAIALmZeV3luIakgAAAAJsAAAAFAAAAAAAAAAEAAACkgRsBAABiLnBnblBLBQYAAAAAAwADAJ4AAAC+AQAAAAA=',
  'UEsDBBQACAAIABqaeV0AAAAAAAAAAAAAAAAKAAAAcmVhZG1lLnR4dCtKTUxRyE0FAFBLBwjheHJ7CQAAAAcAAABQSwMEFAAIAAgAGpp5XQAAAAAAAAAAAAAAAAUAAABhLnBnboWOu26DMBSGdz/FL6SOWAbbIGVEyhiQWDIgBmOfXBQnQ0oztOqbZeuL9RhlYMv2n+v3DdsH3WZkvZspoInn+RtHd6VsFMP+dJ4J2e7vGSPdU6eJzl+QTSn39PkV+bLIFZeikCCDHwwf9HARSuqRs48XqI3SG6VG/ILseqNMrVKiPWi0voKWaCYLV8FwcoYHFaxEl3doqAaThBjeC/uValirqrx4qQaDYBPbG9BCbr1eeAl9tAuP0aQXevWSnEKNWqL3BdiX3wnxD1BLBwiRUHFIyQAAAEEBAABQSwMEFAAIAAgAGpp5XQAAAAAAAAAAAAAAAAUAAABiLnBnbi2MMQ/CIBSEd37Fhb2YQqE7iStNujg0DkgftZG6iMb46301Dnf35fLeTccX3SvkGCvN8GWtHyxxI3kW0+m6VoL8sS8x3SDzziM9noV/2oNuWFyJViF1IAutEJJByA6GMTMmh05hMZgtLN+9OcNuTsEvGuHi0CsMzQBPPf6rQnwBUEsHCOW4hqSAAAAAmwAAAFBLAQIUAxQACAAIABqaeV3heHJ7CQAAAAcAAAAKAAAAAAAAAAAAAACAAQAAAAByZWFkbWUudHh0UEsBAhQDFAAIAAgAGpp5XZFQcUjJAAAAQQEAAAUAAAAAAAAAAAAAAIABQQAAAGEucGduUEsBAhQDFAAIAAgAGpp5XeW4hqSAAAAAmwAAAAUAAAAAAAAAAAAAAIABPQEAAGIucGduUEsFBgAAAAADAAMAngAAAPABAAAAAA==',
].map(decode);
export const GZIP = Buffer.concat([gzipSync(A), gzipSync(B)]);

export function createTarHead(name: string, sizeBytes: number): Buffer {
  const head = Buffer.alloc(512);
  head.write(name);
  head.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124);
  head.write('ustar\x0000        0', 257);
  head.fill(' ', 148, 156);
  head.write('0', 156);
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return head;
}

export function tar(members: readonly (readonly [name: string, content: string])[]): Buffer {
  const blocks = members.map(([name, content]) => {
    const bytes = Buffer.from(content);
    return Buffer.concat([
      createTarHead(name, content.length),
      bytes,
      Buffer.alloc((512 - (bytes.length % 512)) % 512),
    ]);
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** With one file. */
export function zip(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(crc32(content), 14);
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt32LE(content.length, 22);
  head.writeUInt16LE(name.length, 26);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  return Buffer.concat([head, Buffer.from(name), packed, end]);
}
