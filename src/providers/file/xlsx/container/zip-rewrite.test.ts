import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unzip, type ZipPart, zip } from '../workbook.fixture.ts'
import { readCentralDirectory } from './zip.ts'
import { rewriteZip } from './zip-rewrite.ts'

const parts: ZipPart[] = [
  { name: 'a.xml', data: '<a/>' },
  { name: 'Media/Ünï.png', data: Buffer.from([1, 2, 3, 0, 255]), stored: true },
  { name: 'b.xml', data: 'x'.repeat(10_000) },
  { name: 'folder/', data: '', stored: true },
]
const change = (entries: [string, string | null][]) =>
  new Map(entries.map(([key, text]) => [key, text === null ? null : [Buffer.from(text)]]))

test('parts are changed and taken away, the others copied, the order and the names kept', async () => {
  const after = unzip(
    await rewriteZip(
      zip(parts),
      change([
        ['a.xml', '<new/>'],
        ['b.xml', null],
      ]),
    ),
  )
  assert.deepEqual(
    [...after].map(([name, data]) => [name, data.toString('hex')]),
    [
      ['a.xml', Buffer.from('<new/>').toString('hex')],
      ['Media/Ünï.png', '01020300ff'],
      ['folder/', ''],
    ],
  )
})

test('nothing changed gives the same compressed bytes', async () => {
  const before = Buffer.from(zip(parts))
  const after = await rewriteZip(before, new Map())
  for (const [index, entry] of readCentralDirectory(before).entries()) {
    const other = readCentralDirectory(after)[index]
    assert.ok(other)
    assert.deepEqual(
      [other.key, other.method, other.checksum, other.compressedBytes, other.inflatedBytes],
      [entry.key, entry.method, entry.checksum, entry.compressedBytes, entry.inflatedBytes],
    )
  }
  assert.deepEqual(await rewriteZip(after, new Map()), after, 'once in our shape, it keeps it')
})

test('64-bit sizes, a comment and bytes before the end are no obstacle', async () => {
  const wide = Buffer.from(zip(parts.map((part) => ({ ...part, zip64: true }))))
  const comment = Buffer.from('made by hand')
  wide.writeUInt16LE(comment.length, wide.length - 2)
  const after = await rewriteZip(Buffer.concat([wide, comment]), change([['a.xml', 'new']]))
  assert.equal(String(unzip(after).get('a.xml')), 'new')
  assert.equal(unzip(after).get('b.xml')?.length, 10_000)
  assert.equal(after.toString('utf8', after.length - comment.length), 'made by hand')
})

test('sizes that stand behind the data move to the header', async () => {
  const streamed = zip(parts.map((part) => ({ ...part, claims: { flags: 8 } })))
  const after = await rewriteZip(streamed, new Map())
  assert.ok(readCentralDirectory(after).every(({ flags }) => flags === 0))
  const local = readCentralDirectory(after)[2]?.localHeaderOffset ?? 0
  assert.equal(after.readUInt32LE(local + 22), 10_000)
})

test('what could not be copied without guessing is refused', async () => {
  const refused: [archive: Uint8Array, message: RegExp][] = [
    [zip([...parts, { name: 'A.XML', data: 'twice' }]), /damaged/],
    [zip([...parts, { name: 'secret', data: 'x', claims: { flags: 1 } }]), /password/],
    [
      zip([
        { name: 'bomb', data: 'y'.repeat(5000), stored: true },
        ...Array.from({ length: 100 }, (_, at) => ({
          name: `bomb ${at}`,
          data: '',
          overlaps: 0,
          claims: { compressedBytes: 5000 },
        })),
      ]),
      /damaged/,
    ],
  ]
  for (const [archive, message] of refused) {
    await assert.rejects(rewriteZip(archive, new Map()), { name: 'ProviderFailure', message })
  }
})
