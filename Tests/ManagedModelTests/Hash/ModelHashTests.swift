import ManagedModel
import Testing

@Suite struct ModelHashTests {
    /// The published value of XXH3's 128-bit hash of nothing.
    @Test func theHashOfNothingIsThePublishedOne() {
        #expect(ModelHash(hashing: "").description == "99aa06d3014798d86001c324468d497f")
    }

    @Test func aDescriptionIsReadBack() {
        let hash = ModelHash(high: 0x1, low: .max)
        #expect(ModelHash(hash.description) == hash)
        #expect(hash.description == "0000000000000001ffffffffffffffff")
    }

    @Test(arguments: ["", "0", "+000000000000001ffffffffffffffff", "0000000000000001FFFFFFFFFFFFFFFF", "é"])
    func invalidDescriptionsAreRefused(_ text: String) {
        #expect(ModelHash(text) == nil)
    }
}
