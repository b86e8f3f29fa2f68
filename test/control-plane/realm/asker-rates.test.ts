import t from 'tap'
import { askerRates } from '../../../control-plane/realm/sign-in/asker-rates.ts'
import { takeEachRate } from '../../../control-plane/store/queries/rates.ts'
import { countedAs } from '../../../shared/client-address.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { startServices } from '../../support/control-plane.ts'

void t.test(
  'one site has a share of what a tenant sends, however many networks it has',
  async (t) => {
    const { store, clock } = await startServices(t)
    const rate = LIMITS.rateSignUpMailsOfClient
    const tenants = LIMITS.rateSignUpMailsOfTenant.burst
    const ask = (ip: string) =>
      store.change(({ queries }) => {
        const buckets = askerRates('acme', { ip, countedAs: countedAs(ip) }, 'mails', rate)
        return takeEachRate({ queries, nowMs: clock.nowMs() }, buckets)
      })
    let taken = 0
    for (let network = 0; network < 6; network++)
      for (let count = 0; count < rate.burst; count++)
        if (await ask(`2001:db8:1:${network}::1`)) taken++
    t.equal(taken, rate.burst * LIMITS.rateAskedMailsSiteFactor, 'up to the limit, and not beyond')
    t.ok(taken < tenants / 2)
    t.ok(await ask('2001:db8:2::1'), 'another site')
    for (let count = 0; count < rate.burst; count++) t.ok(await ask('192.0.2.1'))
    t.notOk(await ask('192.0.2.1'), 'of IPv4 each address is a site of its own')
  },
)
