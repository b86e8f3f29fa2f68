/** While a client secret is being replaced, the token endpoint takes the one before it as well. */
import type { Provider } from 'oidc-provider'
import type { Clock } from '../../shared/clock.ts'
import { isSameSecret } from '../keys/vault.ts'
import type { ClientSecrets } from '../tenants/client-secrets.ts'

export function takePreviousSecret(
  provider: Provider,
  { previous }: ClientSecrets,
  clock: Clock,
): void {
  if (previous === undefined) return
  const { prototype } = provider.Client // a class of this provider's own
  const isCurrent = prototype.compareClientSecret
  prototype.compareClientSecret = async function (actual) {
    const isPrevious = isSameSecret(actual, previous.secret) && clock.nowMs() < previous.untilMs
    return (await isCurrent.call(this, actual)) || isPrevious
  }
}
