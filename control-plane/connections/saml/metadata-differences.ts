/** What the newest metadata of a provider says that is not as it was. Pure. */
import type { ConnectionRow } from '../../store/queries/connections.ts'
import type { SamlConnectionRow } from '../../store/queries/saml.ts'
import { readCertificate, type SigningCertificate } from './certificates.ts'
import type { ProviderMetadata } from './metadata.ts'

interface Known {
  readonly connection: Pick<ConnectionRow, 'issuer'>
  readonly row: Pick<SamlConnectionRow, 'certificates' | 'ssoUrl'>
}

/** What metadata changes, as the audit trail has it; undefined: nothing. */
export function differences({ connection, row }: Known, metadata: ProviderMetadata) {
  const before = row.certificates.map(readCertificate).filter((one) => one !== undefined)
  const prints = (all: readonly SigningCertificate[]) => all.map(({ fingerprint }) => fingerprint)
  const [old, now] = [new Set(prints(before)), new Set(prints(metadata.certificates))]
  const isMoved = metadata.ssoUrl !== row.ssoUrl
  const isRenamed = metadata.entityId !== connection.issuer
  const added = [...now.difference(old)]
  const removed = [...old.difference(now)]
  const isSame = !isMoved && !isRenamed && added.length === 0 && removed.length === 0
  return {
    /** Uploaded, it may be anybody's who is called so: a certificate has to be in both. */
    isOther: isRenamed || isMoved || now.isDisjointFrom(old),
    content: isSame
      ? undefined
      : {
          ...(isRenamed && { issuer: metadata.entityId }),
          ...(isMoved && { sso_url: metadata.ssoUrl }),
          ...(added.length > 0 && { certificates_added: added }),
          ...(removed.length > 0 && { certificates_removed: removed }),
        },
  }
}
