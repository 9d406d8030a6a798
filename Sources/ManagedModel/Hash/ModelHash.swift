internal import CXXHash

/// A 128-bit XXH3 hash, the same on every machine.
public struct ModelHash: Sendable, Hashable, CustomStringConvertible {
    /// The upper 64 bits.
    public var high: UInt64
    /// The lower 64 bits.
    public var low: UInt64

    /// The hash of those bits.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash of the string's UTF-8 bytes.
    public init(hashing text: String) {
        var text = text
        self = text.withUTF8 { bytes in
            let hash = XXH3_128bits(bytes.baseAddress, bytes.count)
            return ModelHash(high: hash.high64, low: hash.low64)
        }
    }

    /// Reads back ``description``: exactly 32 lower-case hexadecimal digits.
    public init?(_ description: String) {
        guard description.utf8.count == 32,
            description.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
            let high = UInt64(description.prefix(16), radix: 16), let low = UInt64(description.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
