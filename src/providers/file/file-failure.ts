import { ProviderFailure } from '../../sheets/provider-failure.ts'
import { wordsForLinks } from './open-file.ts'

/** What the operating system says, in words an owner can act on; never a path. */
const sentences: Record<string, string> = {
  ENOENT: 'the file is missing; it may have been deleted, renamed or moved',
  ENOTDIR: 'the file is missing; its folder was replaced',
  EACCES: 'Rowport is not allowed to open the file; check its permissions',
  EPERM: 'Rowport is not allowed to open the file; check its permissions',
  EBUSY: 'the file is locked by another program',
  ETXTBSY: 'the file is locked by another program',
  EAGAIN: 'the file is locked by another program',
  EISDIR: 'the path is a folder, not a file',
  ENXIO: 'the path is not a file',
  ELOOP: wordsForLinks,
  EMFILE: 'too many files are open; retry in a moment',
  ENFILE: 'too many files are open; retry in a moment',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  ESTALE: 'the network drive is away',
  ETIMEDOUT: 'the network drive is away',
}

/** Sentences for writing, where it fails for another reason than reading would. */
const sentencesOnWriting: Record<string, string> = {
  EACCES: 'Rowport is not allowed to write to the file or its folder; check their permissions',
  EPERM: 'Rowport is not allowed to write to the file or its folder; check their permissions',
  EFBIG: 'the file would become larger than the disk allows',
}

/** Errors of the file system become failures of the provider; what is a bug of ours stays one. */
export function asProviderFailure(error: unknown, action: 'read' | 'write'): unknown {
  if (error instanceof ProviderFailure || !(error instanceof Error) || !('syscall' in error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const own = action === 'write' ? sentencesOnWriting[code] : undefined
  const otherwise = `the file cannot be ${action === 'write' ? 'written' : 'opened'}`
  return new ProviderFailure(own ?? sentences[code] ?? otherwise, { cause: error })
}
