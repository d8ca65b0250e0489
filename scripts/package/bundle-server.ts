import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'
import { schemaOfMigrations } from './schema-of-migrations.ts'

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
 * An `import` of `node:http` reads each of its exports, and some of them load the whole client behind `fetch` when they are read: that
 * takes as long as all of Node. `getBuiltinModule` gives the same module and reads nothing.
 */
const unreadHttp: Plugin = {
  name: 'unread-http',
  resolveId: (id) => (/^(?:node:)?http$/.test(id) ? '\0unread-http' : null),
  load: (id) => (id === '\0unread-http' ? `module.exports = process.getBuiltinModule('node:http')` : null),
}

/**
 * What packages bring for those who switch it on: figures tied to traces, logs written by threads, figures that sum up quantiles. Each
 * first start would compile it.
 */
const neverUsed = new Set(['@opentelemetry/api', 'thread-stream', 'tdigest'])
const withoutUnused: Plugin = {
  name: 'without-unused',
  resolveId: (id) => (neverUsed.has(id) ? '\0unused' : null),
  load: (id) => (id === '\0unused' ? 'module.exports = {}' : null),
}

/** A new store of SQLite is made at once, as all migrations would make it. */
function withPreparedSchema(statements: readonly string[]): Plugin {
  return {
    name: 'prepared-schema',
    load: (id) =>
      id.endsWith('/sqlite/prepared-schema.ts')
        ? `export const preparedSchema = ${JSON.stringify(statements)}`
        : null,
  }
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
    plugins: [unreadHttp, withoutUnused, withPreparedSchema(await schemaOfMigrations()), modulesOfThreads],
    logLevel: 'warn',
  })
  await bundle.write({
    dir: into,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    charset: 'ascii',
    comments: { legal: false },
  })
  await bundle.close()
}
