import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openBreachList } from '../../../../control-plane/accounts/passwords/breach-list.ts'
import { temporaryFolder } from '../../../support/control-plane.ts'

const hash = (plain: string) => createHash('sha1').update(plain).digest('hex').toUpperCase()
const words = Array.from({ length: 997 }, (_item, index) => `password ${index}`)
const sorted = words.map(hash).sort()

async function listOf(t: Test, text: string) {
  const file = join(temporaryFolder(t), 'breached.txt')
  writeFileSync(file, text)
  const list = await openBreachList(file)
  t.teardown(() => list.close())
  return list
}

const spellings: Record<string, (lines: string[]) => string> = {
  'with counts': (lines) => lines.map((line, index) => `${line}:${index * 37}`).join('\n') + '\n',
  'without an end of the last line': (lines) => lines.join('\n'),
  'of Windows': (lines) => lines.map((line) => `${line}:1\r\n`).join(''),
  'in small letters': (lines) => lines.map((line) => `${line.toLowerCase()}\n`).join(''),
}

for (const [name, write] of Object.entries(spellings))
  t.test(`a list ${name}: every line is found, and nothing else`, async (t) => {
    const list = await listOf(t, write(sorted))
    for (const word of words) if (!(await list.has(word))) t.fail(word)
    for (const other of ['', 'password', 'password 997', 'x'.repeat(1000)])
      t.notOk(await list.has(other), other.slice(0, 20))
  })

t.test('a list of one line, and of two', async (t) => {
  for (const count of [1, 2]) {
    const list = await listOf(t, sorted.slice(0, count).join('\n') + '\n')
    const known = words.filter((word) => sorted.slice(0, count).includes(hash(word)))
    for (const word of known) t.ok(await list.has(word))
    t.notOk(await list.has('another'))
  }
})

t.test('a file that would let everything pass is not opened', async (t) => {
  await t.rejects(listOf(t, ''), /holds no hashes/)
  await t.rejects(listOf(t, 'password\n123456\n'), /no SHA-1 hash/)
  await t.rejects(listOf(t, [...sorted].reverse().join('\n')), /not in the order/)
  await t.rejects(openBreachList('/nowhere/breached.txt'), /ENOENT/)
})
