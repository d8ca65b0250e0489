import { createEmulator } from '../../emulator/server.ts'

/** `node large-google.ts <rows>`: a local Google with one large spreadsheet; prints its address. */
const rows = Number(process.argv[2])
const emulator = await createEmulator()
const header = ['id', 'name', 'city', 'price', 'count', 'isOpen', 'note', 'code', 'when', 'share']
const values = Array.from({ length: rows }, (_, at) => [
  at,
  `name ${at}`,
  'Berlin',
  at * 1.25,
  at % 7,
  at % 2 === 0,
  'some words about it',
  `c-${at}`,
  '2026-11-15',
  at / rows,
])
emulator.world.createSpreadsheet({
  title: 'Large',
  owner: 'ada@example.com',
  tabs: [{ title: 'Items', values: [header, ...values] }],
})
process.stdout.write(`${emulator.url}\n`)
