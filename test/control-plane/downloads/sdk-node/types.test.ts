/** What TypeScript is told of the package is what the sources say. Held by `tsc`, not at run time. */
import t from 'tap'
import type * as Published from '../../../../control-plane/downloads/sdk-node/package/index.d.ts'
import type * as Source from '../../../../control-plane/downloads/sdk-node/index.ts'
import type { Service } from '../../../../control-plane/downloads/sdk-node/service.ts'
import type { TokenClaims } from '../../../../shared/enforcement/token.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

const same: readonly true[] = [
  true satisfies Same<Published.Claims, TokenClaims>,
  // the guard itself is not for applications
  true satisfies Same<keyof Published.Service | 'judge', keyof Service>,
  true satisfies Same<keyof typeof Published, keyof typeof Source>,
]

t.test('the published types name what the sources export, and nothing else', async (t) => {
  t.equal(same.length, 3)
})
