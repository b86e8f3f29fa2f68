/** How drizzle recognises the pieces of a statement, found out once for each class instead of each time. */
import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import * as untouched from 'drizzle-orm/entity'
import t from 'tap'
import { drizzle, eq, sql } from '../../../control-plane/store/drizzle.ts'
import { schema } from '../../../control-plane/store/schema.ts'

const require = createRequire(import.meta.url)
const { is } = require('drizzle-orm/entity') as typeof untouched
const { entityKind } = untouched

type Kind = Parameters<typeof untouched.is>[1]

/** Of the modules that ours is made of. */
function kinds(): Kind[] {
  const exported = ['drizzle-orm', 'drizzle-orm/sqlite-core', 'drizzle-orm/better-sqlite3'].flatMap(
    (name) => Object.values(require(name) as Record<string, unknown>),
  )
  return exported.filter(
    (one): one is Kind => typeof one === 'function' && Object.hasOwn(one, entityKind),
  )
}

function pieces(): Record<string, unknown> {
  const client = new Database(':memory:')
  t.teardown(() => client.close())
  const queries = drizzle(client, { schema })
  const { users } = schema
  const chosen = queries.select().from(users).where(eq(users.userId, 'x'))
  return {
    ...{ queries, users, column: users.userId, chosen, 'sub-query': chosen.as('chosen') },
    ...{ condition: eq(users.userId, 'x'), text: sql`now()`, raw: sql.raw('now()') },
    ...{ parameter: sql.param('x'), placeholder: sql.placeholder('x'), name: sql.identifier('x') },
    ...{ aliased: sql`now()`.as('now'), inserted: queries.insert(users), dialect: queries },
    ...Object.fromEntries(
      sql`a ${users.userId} b`.queryChunks.map((one, at) => [`piece ${at}`, one]),
    ),
    ...{ date: new Date(0), list: [users], bytes: Buffer.of(1), plain: {}, function: kinds },
    ...{ nothing: null, string: 'x', number: 1, missing: undefined },
    ...{ proxy: new Proxy(users, {}), pretender: { constructor: undefined } },
  }
}

t.test('it says of everything what drizzle itself says', async (t) => {
  t.not(is, untouched.is, 'it is another one')
  const all = kinds()
  t.ok(all.length > 40, `${all.length} kinds`)
  let yes = 0
  for (const [name, piece] of Object.entries(pieces())) {
    const own = all.filter((kind) => is(piece, kind)).map(({ name }) => name)
    t.same(
      own,
      all.filter((kind) => untouched.is(piece, kind)).map(({ name }) => name),
      name,
    )
    yes += own.length
  }
  t.ok(yes > 20, `${yes} times it is one`)
})

t.test('what is no kind of drizzle is refused as ever', async (t) => {
  t.throws(() => is({}, Date as never), /doesn't look like a Drizzle entity/)
  t.ok(is(new Date(0), Date as never), 'but for what is one of them')
})

t.test('drizzle’s own modules ask it', async (t) => {
  const asked = require('drizzle-orm') as typeof untouched
  t.equal(asked.is, is)
})
