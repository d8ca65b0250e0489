// What somebody would write by hand for one table: Fastify, SQLite with prepared statements, a Map of keys. Plain
// JavaScript, because its packages are not there when types are checked.
import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'

const { port, databasePath, apiKey } = JSON.parse(process.env.PEER ?? '{}')
const accounts = new Map([[apiKey, 'bench']])
const database = new DatabaseSync(databasePath, { readOnly: true })
const all = database.prepare('SELECT * FROM products')
const page = database.prepare('SELECT * FROM products WHERE city = ? ORDER BY price DESC LIMIT ? OFFSET ?')
const one = database.prepare('SELECT * FROM products WHERE id = ?')

const app = Fastify()
app.addHook('onRequest', (request, reply, next) => {
  const key = request.headers.authorization?.slice('Bearer '.length)
  if (accounts.has(key)) next()
  else reply.code(401).send({ error: 'unauthorized' })
})
app.get('/products', ({ query: { city, limit = 50, offset = 0 } }) =>
  city === undefined ? all.all() : page.all(city, Number(limit), Number(offset)),
)
app.get(
  '/products/:id',
  ({ params: { id } }, reply) => one.get(id) ?? reply.code(404).send({ error: 'not_found' }),
)
await app.listen({ port, host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
