import { createEmulator } from './server.ts'

const port = Number(process.env.PORT ?? 8085)
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  process.stderr.write(`PORT must be a number from 0 to 65535, not ${process.env.PORT}.\n`)
  process.exit(1)
}

const emulator = await createEmulator({ port }).catch((error: NodeJS.ErrnoException) => {
  const reason = error.code === 'EADDRINUSE' ? `Port ${port} is taken; set PORT to another.` : error.message
  process.stderr.write(`${reason}\n`)
  process.exit(1)
})

process.stdout.write(`Google emulator on ${emulator.url}

  A token       curl -d '{"user":"ada@example.com"}' ${emulator.url}/_control/tokens
  A spreadsheet curl -d '{"title":"Shop","owner":"ada@example.com","tabs":[{"title":"Items","values":[["name","price"],["tea",3]]}]}' ${emulator.url}/_control/spreadsheets
  A failure     curl -d '{"match":{"kind":"write"},"kind":"lost","times":1}' ${emulator.url}/_control/faults
  Rations       curl -d '{"quotas":true,"latencyMs":300}' ${emulator.url}/_control/settings
  The calls     curl ${emulator.url}/_control/calls
  Clean slate   curl -X POST ${emulator.url}/_control/reset

  Google's Node clients: rootUrl ${emulator.url}/ and the OAuth endpoints /o/oauth2/v2/auth, /token, /revoke, /tokeninfo.
`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void emulator.close().then(() => process.exit(0)))
}
