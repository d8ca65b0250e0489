import { Problem } from '../management/problem.ts'
import { type Command, UsageError } from './command.ts'

export const storeCommands: readonly Command[] = [
  {
    words: ['migrate-store'],
    usage: 'migrate-store --to <postgres://…>',
    positionals: [],
    options: ['to'],
    async run({ copyStoreTo }, _words, { to }) {
      if (to === undefined) throw new UsageError('--to is missing.')
      if (!/^postgres(ql)?:\/\/[^/]/.test(to) || URL.parse(to) === null) {
        throw new UsageError('--to must be a URL such as postgres://user:password@host/database.')
      }
      const copied = await copyStoreTo(to)
      if (copied instanceof Problem) return copied
      const rows = copied.reduce((sum, table) => sum + table.rows, 0)
      return {
        json: { tables: Object.fromEntries(copied.map(({ table, rows }) => [table, rows])), rows },
        text: [
          ...copied.map(({ table, rows }) => `${table.padEnd(18)}${String(rows).padStart(9)}`),
          '',
          `${rows} rows copied and compared. Start the servers with DATABASE_URL, and with ROWPORT_SECRET set to what`,
          'this server used: the one that was set, or else what the file "secret" in the data folder holds.',
        ].join('\n'),
      }
    },
  },
]
