/** Clients of a realm beside the tenant's own application, as the provider knows them. */
import { randomBytes } from 'node:crypto'
import type { Adapter, Provider as OidcProvider } from 'oidc-provider'
import type { RealmWorld } from '../world.ts'

/** The provider wants a secret in the clear, and only its hash is kept. */
const NEVER_COMPARED = randomBytes(32).toString('base64url')

type ClientsWorld = Pick<RealmWorld, 'realmClients'>

export function registeredClients(
  tenantId: string,
  { realmClients }: ClientsWorld,
): Pick<Adapter, 'find'> {
  return {
    async find(clientId) {
      const known = await realmClients.find(tenantId, clientId)
      if (known === undefined) return undefined
      return {
        client_id: clientId,
        client_secret: NEVER_COMPARED,
        client_name: known.name,
        redirect_uris: [...known.redirectUris],
        post_logout_redirect_uris: [...known.postLogoutRedirectUris],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic', // which takes client_secret_post too
        id_token_signed_response_alg: 'RS256',
      }
    },
  }
}

/** The first of them that knows an id. */
export function firstOf(...kinds: readonly Pick<Adapter, 'find'>[]): Pick<Adapter, 'find'> {
  return {
    async find(id) {
      for (const kind of kinds) {
        const found = await kind.find(id)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** Before all others: no secret of the tenant's application counts for them. */
export function takeRegisteredSecrets(
  provider: OidcProvider,
  tenantId: string,
  { realmClients }: ClientsWorld,
): void {
  const { prototype } = provider.Client // a class of this provider's own
  const isSecretOfOthers = prototype.compareClientSecret
  prototype.compareClientSecret = async function (actual) {
    if ((await realmClients.find(tenantId, this.clientId)) === undefined)
      return isSecretOfOthers.call(this, actual)
    return realmClients.isSecret(tenantId, this.clientId, actual)
  }
}
