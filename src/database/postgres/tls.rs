//! TLS for the connection to the database, by rustls. Must not read the system's certificates where
//! no TLS is wanted, nor accept a certificate that the URL wants verified and that is not.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio_rustls::{TlsConnector, client};

/// What of the server's certificate is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verify {
    /// Nothing: whoever only listens is kept out.
    Nothing,
    /// Who signed it.
    Chain,
    /// And that it is the host's.
    Full,
}

/// Opens TLS on a connection; `None` where no TLS is wanted.
#[derive(Debug, Clone)]
pub(super) struct MakeTls(Option<Arc<ClientConfig>>);

impl MakeTls {
    pub(super) fn new(verify: Verify, roots: Option<&Path>, is_off: bool) -> Result<Self, String> {
        if is_off {
            return Ok(Self(None));
        }
        let provider = Arc::new(ring::default_provider());
        let inner = match verify {
            Verify::Nothing => None,
            Verify::Chain | Verify::Full => {
                let store = Arc::new(root_store(roots)?);
                let verifier = WebPkiServerVerifier::builder_with_provider(store, provider.clone()).build();
                Some(verifier.map_err(|error| error.to_string())?)
            }
        };
        let verifier = Arc::new(Verifier { inner, verify, provider: provider.clone() });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self(Some(Arc::new(config))))
    }
}

/// The certificates of a file, or the system's.
fn root_store(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    if let Some(file) = file {
        let failed = |why: String| format!("sslrootcert {}: {why}", file.display());
        let certificates = CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| failed(error.to_string()))?;
            store.add(certificate).map_err(|error| failed(error.to_string()))?;
        }
        if store.is_empty() {
            return Err(failed("no certificate is in it".into()));
        }
        return Ok(store);
    }
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        return Err(
            "the system has no certificates to verify the server's by; name a file with sslrootcert".into()
        );
    }
    Ok(store)
}

/// Verifies as much of a certificate as the URL wants.
#[derive(Debug)]
struct Verifier {
    inner: Option<Arc<WebPkiServerVerifier>>,
    verify: Verify,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is looked at last: all else was right.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verify == Verify::Chain => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for MakeTls {
    type Stream = TlsStream<S>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Connect> {
        // A Unix socket has no name, and needs none.
        let Some(config) = self.0.clone() else { return Ok(Connect(None)) };
        Ok(Connect(Some((config, ServerName::try_from(host.to_owned()).map_err(io::Error::other)?))))
    }
}

/// How TLS is opened, and to whom; `None` where no TLS is wanted.
pub(super) struct Connect(Option<(Arc<ClientConfig>, ServerName<'static>)>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = TlsStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let (config, name) = self.0.ok_or_else(|| io::Error::other("no TLS is wanted here"))?;
            Ok(TlsStream(TlsConnector::from(config).connect(name, stream).await?))
        })
    }
}

/// An encrypted connection.
pub(super) struct TlsStream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for TlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for TlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TlsStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
