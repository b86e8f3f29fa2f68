/** An authenticator app on an account, without the pages that set one up. */
import type { Owner } from '../../control-plane/accounts/factors.ts'
import type { Services } from '../../control-plane/services/services.ts'

const SEED = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

export const addFactor = ({ store, factors }: Pick<Services, 'store' | 'factors'>, owner: Owner) =>
  store.change((change) => factors.addTotp(change, owner, SEED, 0))
