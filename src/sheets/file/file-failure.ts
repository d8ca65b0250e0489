import { ProviderFailure } from '../provider-failure.ts'

/** What the operating system says, in words an owner can act on; never a path. */
const sentences: Record<string, string> = {
  ENOENT: 'the file does not exist any more; it was deleted, renamed or moved',
  ENOTDIR: 'the file does not exist any more; its folder was replaced',
  EACCES: 'Rowport is not allowed to open the file; check its permissions',
  EPERM: 'Rowport is not allowed to open the file; check its permissions',
  EBUSY: 'the file is locked by another program',
  ETXTBSY: 'the file is locked by another program',
  EAGAIN: 'the file is locked by another program',
  EISDIR: 'what is connected is a folder, not a file',
  ENXIO: 'what is connected is not a file',
  ELOOP: 'the file is a link that leads nowhere',
  EMFILE: 'too many files are open; retry in a moment',
  ENFILE: 'too many files are open; retry in a moment',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  ESTALE: 'the network drive is away',
  ETIMEDOUT: 'the network drive is away',
}

/** Errors of the file system become failures of the provider; what is a bug of ours stays one. */
export function asProviderFailure(error: unknown): unknown {
  if (error instanceof ProviderFailure || !(error instanceof Error) || !('syscall' in error)) return error
  const code = 'code' in error ? String(error.code) : ''
  return new ProviderFailure(sentences[code] ?? 'the file cannot be opened', { cause: error })
}
