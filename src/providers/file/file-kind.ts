import { basename } from 'node:path'
import type { ProviderKind } from '../../sheets/provider-kind.ts'
import { parseFileLocation } from './file-location.ts'

export const fileKind = {
  id: 'file',
  name: 'File',
  title: 'A file',
  connectsBy: null,
  canBeListed: true,
  hasTabs: true,
  whenAccessEnded: null,
  describe(location: string) {
    const { path, tab = null } = parseFileLocation(location)
    const words = tab === null ? basename(path) : `${basename(path)} · ${tab}`
    return { words, tab, url: null, path }
  },
} as const satisfies ProviderKind
