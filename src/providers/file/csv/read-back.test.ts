import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../../../sheets/change.ts'
import { ProviderFailure } from '../../../sheets/provider-failure.ts'
import { detectDialect } from './dialect.ts'
import { editCsv } from './edit.ts'
import { refuseUnlessReadBack } from './read-back.ts'
import { CsvRecordList } from './record-list.ts'
import { readCsvText } from './text.ts'

const former = 'a,b\n1.50,"x"\n2,y\n3,z\n,\n'
const changes: Change[] = [
  { kind: 'update', rowNumber: 3, cells: [{ columnIndex: 1, value: 'Y' }] },
  { kind: 'delete', rowNumber: 4 },
  { kind: 'add', rows: [[4, 'new']] },
]

function check(now: string): void {
  const read = readCsvText(Buffer.from(former))
  const dialect = detectDialect(read)
  refuseUnlessReadBack(new CsvRecordList(read.text, dialect), dialect, changes, Buffer.from(now))
}

test('new bytes pass that hold each former record to the letter and the rows that were meant', () => {
  const edited = editCsv(Buffer.from(former), changes)
  assert.ok('bytes' in edited)
  assert.equal(Buffer.from(edited.bytes).toString(), 'a,b\n1.50,"x"\n2,Y\n4,new\n,\n')
  check('a,b\n1.50,"x"\n2,Y\n4,new\n,\n')
})

test('anything else is refused, however well it reads', () => {
  for (const now of [
    former,
    'a,b\n1.50,"x"\n2,Y\n4,old\n,\n',
    'a,b\n1.50,"x"\n2,y\n4,new\n,\n',
    // The same values, but not as their owner spelled them.
    'a,b\n1.5,"x"\n2,Y\n4,new\n,\n',
    'a,b\n1.50,x\n2,Y\n4,new\n,\n',
    'a,b\n1.50,"x"\n2,Y\n4,new\n5,more\n,\n',
    'a,b\n1.50,"x"\n2,Y\n,\n',
    'a,b\n1.50,"x"\n2,Y\n4,new\n',
    '\ufeffa,b\n1.50,"x"\n2,Y\n4,new\n,\n',
    'a;b\n1.50;"x"\n2;Y\n4;new\n;\n',
    'a,b\n1.50,"x\n2,Y\n4,new\n,\n',
  ]) {
    assert.throws(() => check(now), ProviderFailure, now)
  }
})
