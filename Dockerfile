# The operator's image: docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" -t REGISTRY/copartition-operator:0.1.0 .
# For Amazon MSK with IAM: --build-arg FEATURES=aws-msk-iam.
# It ends in one binary on a base without a shell, and runs as a user without rights, which is what the chart asks for.
FROM rust:1.95.0-bookworm AS build
RUN apt-get update \
  && apt-get install -y --no-install-recommends libssl-dev pkg-config \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Cargo.toml Cargo.lock ./
COPY benches benches
COPY README.md README.md
COPY src src
COPY tests tests
ARG COMMIT=
# Features of Cargo.toml, separated by commas.
ARG FEATURES=
# What the base lacks is linked in; what it has (the C library) is not, since names are resolved with it.
# OpenSSL's folder is named, because what pkg-config finds below /usr is never linked statically.
ENV COPARTITION_COMMIT=$COMMIT OPENSSL_STATIC=1 OPENSSL_INCLUDE_DIR=/usr/include LIBZ_SYS_STATIC=1
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    OPENSSL_LIB_DIR="/usr/lib/$(gcc -dumpmachine)" \
    cargo build --release --locked --bin copartition-operator --features "$FEATURES" \
  && cp target/release/copartition-operator /copartition-operator
# Fails here rather than at the first start.
RUN /copartition-operator --version \
  && ldd /copartition-operator > /libraries && cat /libraries \
  && ! grep -E 'not found|libssl|libcrypto|libz' /libraries

FROM gcr.io/distroless/cc-debian12:nonroot
ARG COMMIT=
LABEL org.opencontainers.image.title="copartition-operator" \
      org.opencontainers.image.description="Keeps Kafka topics co-partitioned: declared, enforced and proven" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /copartition-operator /usr/local/bin/copartition-operator
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/copartition-operator"]
CMD ["run"]
