/** Rows of a table in which people choose what they are called: nobody becomes another person by it. */
import t from 'tap'
import type { Row } from '../../../control-plane/user-directory/driver.ts'
import { isProblem, readRow } from '../../../control-plane/user-directory/person.ts'
import { LIMITS } from '../../../shared/limits.ts'

const COLUMNS = { id: 'a', username: 'b', email: 'c', name: 'd', password_hash: 'e' }

function read(id: string | null, username: string, email = 'm@evil.test', name = 'M') {
  const row: Row = [id, username, email, name, 'a hash']
  const { person, rowId } = readRow(row, COLUMNS)
  return { person, rowId, problem: isProblem(person) ? person.role : undefined }
}

/** What nobody sees, as numbers: a line break of theirs would break our own. */
const shown = (text: string | null) => Array.from(text ?? '', (one) => one.codePointAt(0)).join(' ')

const ENDS = [' ', '\t', '\n', '\r\n', '\u00a0', '\u2003', '\u3000', '\u2028', '\ufeff', '\0']

t.test('an id is one person to the byte, or nobody', async (t) => {
  t.match(read('root', 'r').person, { externalId: 'root' })
  for (const end of ENDS)
    for (const id of [`root${end}`, `${end}root`]) {
      const { problem, rowId } = read(id, 'r')
      t.equal(problem, 'id', shown(id))
      t.equal(rowId, id, 'and guesses at it are not counted for another person')
    }
  for (const id of ['', null, ' ', 'ro\u200bot', 'ro\u202eot', 'ro\ufffdot', 'ro\ud800ot'])
    t.equal(read(id, 'r').problem, 'id', shown(id))
  for (const id of ['1', '01', '1.0', '+1', 'Root', 'ROOT', 'ｒoot', 'a b', 'a\u200db'])
    t.match(read(id, 'r').person, { externalId: id })
  const longest = 'i'.repeat(LIMITS.directoryIdCharactersMax)
  t.equal(read(longest, 'r').problem, undefined)
  t.match(read(`${longest}i`, 'r'), { problem: 'id', rowId: `${longest}i` })
})

t.test('a username or an address is not made that of another one', async (t) => {
  for (const end of ENDS) {
    t.equal(read('1', `root${end}`).problem, 'username', shown(end))
    t.equal(read('1', 'r', `root@x.test${end}`).problem, 'email', shown(end))
  }
  t.match(read('1', ' ', 'm@evil.test').person, { username: 'm@evil.test' })
})

t.test('nobody is called what reads as the address of another one', async (t) => {
  for (const at of ['@', '\uff20', '\ufe6b'])
    t.equal(read('1', `ada${at}example.com`).problem, 'username', at)
  t.equal(read('1', 'M＠evil.test').problem, undefined, 'their own is theirs')
})
