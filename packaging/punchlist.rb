# The Homebrew formula; packaging/build fills in what is between the @ signs.
class Punchlist < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL:aarch64-apple-darwin@"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL:x86_64-apple-darwin@"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL:aarch64-unknown-linux-musl@"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL:x86_64-unknown-linux-musl@"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "punchlist"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/punchlist.bash" => "punchlist"
    zsh_completion.install "completions/punchlist.zsh" => "_punchlist"
    fish_completion.install "completions/punchlist.fish"
  end

  test do
    assert_match "The stop is blocked (exit 2)", shell_output("#{bin}/punchlist demo")
  end
end
