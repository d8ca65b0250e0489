import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

/** A module that a thread loads by its address: the bundle must have it as a file of its own, with its exports as they are called. */
const addressOfModule = /new URL\('(\.[^']+\.ts)', import\.meta\.url\)/g

const modulesOfThreads: Plugin = {
  name: 'modules-of-threads',
  async transform(code, id) {
    if (!code.includes('new URL(')) return null
    let bundled = code
    for (const [text, path = ''] of code.matchAll(addressOfModule)) {
      const resolved = await this.resolve(path, id)
      if (resolved === null) throw new Error(`${id} names ${path}, which is not there`)
      const reference = this.emitFile({ type: 'chunk', id: resolved.id, preserveSignature: 'strict' })
      bundled = bundled.replace(text, `new URL(import.meta.ROLLUP_FILE_URL_${reference})`)
    }
    return { code: bundled, map: null }
  },
}

/**
 * The server and its commands as JavaScript, with the packages they need: few files are read and compiled faster than a thousand,
 * and whoever installs them installs nothing else.
 */
export async function bundleServer(root: string, into: string): Promise<void> {
  const bundle = await rolldown({
    input: { rowport: join(root, 'src/cli.ts') },
    platform: 'node',
    // Not installed, and asked for only by those who have it.
    external: ['pg-native'],
    plugins: [modulesOfThreads],
    logLevel: 'warn',
  })
  await bundle.write({
    dir: into,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    comments: { legal: false },
  })
  await bundle.close()
}
