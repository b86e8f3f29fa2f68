/**
 * Ruby: a Rack middleware on ruby-jwt. What ruby-jwt takes and we do not (`rs256` for RS256, a list
 * of audiences, any `iat`) is refused beside it.
 */
import type { FrameworkSnippet } from './snippet.ts'

const CODE = String.raw`# An initializer: nothing else is to be done in Rails.
#
# Believes nothing but the signature of X-Service-Claims, and answers the service's probes. Let
# only the gateway reach this application all the same: sessions are ended early there, not here.
require 'digest'
require 'json'
require 'jwt'
require 'net/http'

class ServiceClaims
  BASE_URL = ENV.fetch('SERVICE_BASE_URL').sub(%r{/+\z}, '')
  TENANT_ID = ENV.fetch('SERVICE_TENANT_ID')
  KEY_FILE = ENV.fetch('SERVICE_PUBLIC_KEY_FILE', 'service_public.pem')
  ISSUER = "#{BASE_URL}/auth/realms/#{TENANT_ID}"
  AUDIENCE = "#{TENANT_ID}-user"
  KEYS_URL = URI("#{BASE_URL}/tenants/#{TENANT_ID}/public-key")
  TOKEN = /\A[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\z/
  PEM = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/

  def initialize(app)
    @app = app
    @installed = @keys = File.exist?(KEY_FILE) ? keys_by_kid(File.read(KEY_FILE)) : {}
    @fetching = Mutex.new
    @fetch_again_at = 0
  end

  # A header that came twice is joined by a comma, which no token contains.
  def call(env)
    probe = env['HTTP_X_SERVICE_PROBE']
    return answer(proven(probe, 'service-probe+jwt', 'nonce')) if probe

    user = proven(env['HTTP_X_SERVICE_CLAIMS'], 'JWT', 'sub', 'sid')
    return [401, {}, []] unless user

    env['service.user'] = user
    @app.call(env)
  end

  private

  def answer(probe)
    is_fresh = probe && probe['exp'] - probe['iat'] <= 60
    [is_fresh ? 204 : 401, { 'x-service-probe-reply' => is_fresh ? probe['nonce'] : '' }, []]
  end

  # The claims that the service signed for this application, or nil: deny when unsure.
  def proven(token, typ, *names)
    return unless TOKEN.match?(token)

    expected = { iss: ISSUER, verify_iss: true, aud: AUDIENCE, verify_aud: true }
    claims, header = JWT.decode(token, nil, true, algorithms: ['RS256'], **expected) do |unproven|
      key_for(unproven['kid'])
    end
    return if header['alg'] != 'RS256' || header.fetch('typ', 'JWT') != typ || header.key?('crit')

    exp, iat = claims.values_at('exp', 'iat')
    is_timely = [exp, iat].all?(Numeric) && iat <= Time.now.to_i + 60 # exp is judged above
    is_whole = names.all? { |name| claims[name].is_a?(String) && !claims[name].empty? }
    claims if is_timely && is_whole && claims['aud'] == AUDIENCE
  rescue JWT::DecodeError, ArgumentError, NoMethodError, TypeError
    nil
  end

  # A key that was rotated in since is fetched when it first appears: every 10 s at most.
  def key_for(kid)
    return @keys[kid] if @keys.key?(kid)

    @fetching.synchronize do
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if !@keys.key?(kid) && now >= @fetch_again_at
        @fetch_again_at = now + 10
        @keys = @installed.merge(keys_by_kid(fetched))
      end
    end
    @keys[kid]
  rescue StandardError => e
    warn "could not fetch the public keys: #{e.message}"
    nil
  end

  def fetched
    options = { use_ssl: KEYS_URL.scheme == 'https', open_timeout: 5, read_timeout: 5 }
    Net::HTTP.start(KEYS_URL.host, KEYS_URL.port, **options) do |http|
      answer = http.get(KEYS_URL.path, 'Accept' => 'application/x-pem-file')
      answer.value # raises unless it is 2xx
      answer.body
    end
  end

  # A kid is the RFC 7638 thumbprint of its key, so a PEM needs no name.
  def keys_by_kid(pems)
    base64url = ->(bytes) { [bytes].pack('m0').tr('+/', '-_').delete('=') }
    pems.scan(PEM).to_h do |pem|
      key = OpenSSL::PKey::RSA.new(pem)
      e, n = [key.e, key.n].map { |number| base64url.(number.to_s(2)) }
      [base64url.(Digest::SHA256.digest(JSON.generate(e: e, kty: 'RSA', n: n))), key]
    end
  end
end

# First of all, in front of redirects and of the pages for errors.
Rails.application.config.middleware.insert_before 0, ServiceClaims

ActiveSupport.on_load(:action_controller) do
  # In controllers and, with helper_method :service_user, in views.
  def service_user
    request.env['service.user']
  end
end
`

export const RUBY: Readonly<Record<string, FrameworkSnippet>> = {
  rails: {
    name: 'Ruby on Rails',
    language: 'ruby',
    modes: ['gateway', 'connector'],
    edge: {
      install: 'bundle add jwt',
      file: 'config/initializers/service_claims.rb',
      code: CODE,
    },
  },
}
