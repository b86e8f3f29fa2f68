/** What TypeScript is told of the package is what the compiler makes of its sources. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type * as Published from '../../../../control-plane/downloads/sdk-node/package/index.d.ts'
import type * as Source from '../../../../control-plane/downloads/sdk-node/index.ts'
import type { Service } from '../../../../control-plane/downloads/sdk-node/service.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'
import { DECLARATIONS, declarationsOfSdk } from '../../../support/sdk-types.ts'

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

t.test('the declarations are those that the compiler makes: npm run sdk-types', async (t) => {
  const made = declarationsOfSdk()
  t.equal(readFileSync(DECLARATIONS, 'utf8'), made)
  t.notMatch(made, /from '\.|import\(/, 'of nothing inside')
  for (const name of ['verifyClaims', 'enforce'])
    t.match(made, new RegExp(`\\*/\nexport declare function ${name}\\(`), 'with what it says')
})
