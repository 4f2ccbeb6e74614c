/**
 * `doctor --install-cuda` installs onnxruntime's CUDA provider. The npm package leaves it out because of its size; the
 * Python package of the same version holds the same libraries, and Python's own pip fetches it, from wherever the user has told pip
 * to fetch from. A provider of another version does not load, so version and hash are written here, and a test compares them with
 * package.json.
 */
import { execFile } from 'node:child_process';
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { getTemporaryFolder } from '#platform/folders.js';
import { downloadFile, identifyFile } from '../../../engine/weights/index.js';

/** The published one has 250 MB. */
const LARGEST_ARCHIVE_BYTES = 2e9;

interface CudaArchive {
  readonly onnxRuntime: string;
  /** The major version of CUDA it is made for. */
  readonly cuda: number;
  /** Name of the file, and what pip calls it. */
  readonly name: string;
  readonly requirement: readonly string[];
  readonly sha256: string;
  /** In the archive's folder of libraries. */
  readonly files: readonly string[];
  /** What it needs from the system beside the driver, and the Python packages that carry it. */
  readonly libraries: readonly string[];
  readonly packages: string;
}

/** By platform and architecture. */
export const CUDA_ARCHIVES: Readonly<Record<string, CudaArchive>> = {
  'linux-x64': {
    onnxRuntime: '1.30.0',
    cuda: 13,
    name: 'onnxruntime_gpu-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl',
    requirement: [
      'onnxruntime-gpu==1.30.0',
      ...['--implementation=cp', '--python-version=3.12', '--abi=cp312', '--platform=manylinux_2_28_x86_64'],
    ],
    sha256: '6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1',
    files: [
      'libonnxruntime_providers_cuda.so',
      'libonnxruntime_providers_shared.so',
      'libonnxruntime_providers_tensorrt.so',
    ],
    libraries: ['libcudart.so.13', 'libcublas.so.13', 'libcublasLt.so.13', 'libcurand.so.10', 'libcudnn.so.9'],
    packages:
      'nvidia-cuda-runtime~=13.0 nvidia-cublas~=13.0 nvidia-curand~=10.0 nvidia-cufft~=12.0 nvidia-cudnn-cu13~=9.0',
  },
};

export interface CudaInstallation {
  /** Where onnxruntime looks for providers. */
  readonly folder: string;
  /** '' = the published archive, by pip; else a URL or a file, or a folder or mirror that holds the archive. */
  readonly from: string;
  /** Expected SHA-256 if the archive is not the published one; '' = the published one's. */
  readonly sha256: string;
  onProgress(doneBytes: number, totalBytes: number | null): void;
}

/** @returns the files installed. Rejects with one sentence. */
export async function installCuda(installation: CudaInstallation): Promise<string[]> {
  const platform = `${process.platform}-${process.arch}`;
  const archive = CUDA_ARCHIVES[platform];
  if (archive === undefined) throw new Error(`There is no CUDA provider for ${platform}`);
  const scratch = await mkdtemp(join(getTemporaryFolder(), 'sardonyx-cuda-'));
  try {
    const path = await obtainArchive(archive, installation, scratch);
    const expected = installation.sha256 || archive.sha256;
    const { sha256: actual } = await identifyFile(path);
    if (actual !== expected.toLowerCase()) {
      throw new Error(`The archive has the SHA-256 ${actual}, not ${expected}: it is damaged or another archive`);
    }
    return await extractInto(installation.folder, path, archive.files);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function obtainArchive(archive: CudaArchive, installation: CudaInstallation, scratch: string): Promise<string> {
  const { from } = installation;
  const { name } = archive;
  const isUrl = /^https?:\/\//i.test(from);
  if (from !== '' && !isUrl) {
    const path = existsSync(from) && statSync(from).isDirectory() ? join(from, name) : from;
    if (!existsSync(path)) throw new Error(`There is no file ${path}`);
    return path;
  }
  const path = join(scratch, name);
  if (from === '') {
    await fetchWithPip(archive, scratch);
    return path;
  }
  const url = /\.(whl|zip|nupkg)$/i.test(from) ? from : `${from.replace(/\/$/, '')}/${name}`;
  // The digest is checked for archives from disk as well, so not here.
  const { onProgress } = installation;
  const downloaded = await downloadFile({ url, path, sha256: null, mostBytes: LARGEST_ARCHIVE_BYTES, onProgress });
  if (!downloaded.ok) throw new Error(`${downloaded.error}; --from takes a mirror or a downloaded file`);
  return path;
}

/** Rejects with the sentence for the user. */
async function fetchWithPip({ name, requirement }: CudaArchive, folder: string): Promise<void> {
  const flags = ['--quiet', '--no-deps', '--only-binary=:all:', `--dest=${folder}`];
  try {
    await promisify(execFile)('python3', ['-m', 'pip', 'download', ...flags, ...requirement]);
  } catch (error) {
    const { stderr = '', message } = error as { stderr?: string; message: string };
    const reason = stderr.trim().split('\n').at(-1) || message;
    throw new Error(`pip cannot fetch ${name} (${reason}); --from takes a mirror or a downloaded file`);
  }
  if (!existsSync(join(folder, name))) throw new Error(`pip fetched another file than ${name}; --from takes that file`);
}

async function extractInto(folder: string, archivePath: string, files: readonly string[]): Promise<string[]> {
  const archive = await openArchive(archivePath);
  try {
    const members = new Map<string, Entry>();
    for await (const entry of archive.eachEntry()) members.set(basename(entry.fileName), entry);
    const installed: string[] = [];
    for (const file of files) {
      const member = members.get(file);
      if (member === undefined) throw new Error(`The archive holds no ${file}`);
      const target = join(folder, file);
      await extractMember(archive, member, target);
      installed.push(target);
    }
    return installed;
  } finally {
    archive.close();
  }
}

async function openArchive(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false });
  } catch (error) {
    throw new Error(`${path} is not a zip archive: ${(error as Error).message}`);
  }
}

/** Writes under another name until the file is complete, so that onnxruntime never loads half a library. */
async function extractMember(archive: ZipFile, member: Entry, target: string): Promise<void> {
  const draft = `${target}.${process.pid}.draft`;
  try {
    await pipeline(await archive.openReadStreamPromise(member), createWriteStream(draft, { mode: 0o755 }));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Error(`Cannot write ${target}: ${(error as Error).message}`);
  }
}
