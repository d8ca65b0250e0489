import { basename } from 'node:path'
import type { ProviderKind } from '../../sheets/provider-kind.ts'
import { fileEncodings } from './file-encodings.ts'
import { parseFileLocation } from './file-location.ts'

export const fileKind = {
  id: 'file',
  name: 'File',
  title: 'A file',
  connectsBy: [],
  canBeListed: true,
  hasTabs: true,
  whenAccessEnded: null,
  encodings: fileEncodings,
  describe(location: string) {
    const { path, tab = null } = parseFileLocation(location)
    const words = tab === null ? basename(path) : `${basename(path)} · ${tab}`
    return { words, tab, url: null, path }
  },
} as const satisfies ProviderKind
