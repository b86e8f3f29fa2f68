/** Which language a connection speaks. */
import type { ConnectionRow } from '../store/queries/connections.ts'
import type { createGithub } from './github.ts'
import type {
  createProtocol,
  FlowSecrets,
  Proven,
  ProviderAnswer,
  SignOut,
  Wish,
} from './protocol.ts'

interface Spoken {
  readonly oidc: ReturnType<typeof createProtocol>
  readonly github: ReturnType<typeof createGithub>
}

type Settings = Pick<
  ConnectionRow,
  'connectionId' | 'preset' | 'issuer' | 'clientId' | 'organization'
> & { readonly clientSecret: string }

export type ConnectionProtocol = ReturnType<typeof createProtocols>

export function createProtocols({ oidc, github }: Spoken) {
  const of = ({ preset }: Settings) => (preset === 'github' ? github : oidc)
  return {
    /** Where a browser is sent. */
    authorizationUrl: (
      settings: Settings,
      redirectUri: string,
      flow: FlowSecrets & { readonly state: string },
      wish: Wish,
    ): Promise<string> => of(settings).authorizationUrl(settings, redirectUri, flow, wish),

    /** What is true of whoever came back; a `ProviderProblem` where nothing is. */
    claimsFor: (
      settings: Settings,
      redirectUri: string,
      answer: ProviderAnswer,
      flow: FlowSecrets,
    ): Promise<Proven> => of(settings).claimsFor(settings, redirectUri, answer, flow),

    /** Where a browser is sent that has signed out here; undefined: nowhere. */
    signOutUrl: async (settings: Settings, wish: SignOut): Promise<string | undefined> =>
      settings.preset === 'github' ? undefined : oidc.signOutUrl(settings, wish),
  }
}
