/** What TypeScript is told of the package is what its sources are checked by. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type * as Published from '../../../../control-plane/downloads/sdk-node/published.ts'
import type * as Source from '../../../../control-plane/downloads/sdk-node/index.ts'
import type { Service } from '../../../../control-plane/downloads/sdk-node/service.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Held by the check of types, and not when this runs. */
const same: readonly true[] = [
  true satisfies Same<Published.Claims, TokenClaims>,
  // the guard itself is not for applications
  true satisfies Same<keyof Published.Service | 'judge', keyof Service>,
  true satisfies Same<keyof typeof Published, keyof typeof Source>,
]

t.test('the published types name what the sources export, and nothing else', async (t) => {
  t.equal(same.length, 3)
})

t.test('the declarations stand for themselves, and declare alone', async (t) => {
  const file = '../../../../control-plane/downloads/sdk-node/published.ts'
  const declarations = readFileSync(new URL(file, import.meta.url), 'utf8')
  t.notMatch(declarations, /from '\.|import\(/, 'of nothing inside')
  t.notMatch(declarations, /^export (?!declare |interface |type )/m, 'and nothing that runs')
  for (const name of ['verifyClaims', 'enforce'])
    t.match(
      declarations,
      new RegExp(`\\*/\nexport declare function ${name}\\(`),
      'with what it says',
    )
})
