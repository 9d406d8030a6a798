import ErrorExpectations
import Foundation
import ManagedModel
import ModelReader
import Testing

/// A file damaged in any way is read or refused with an error; it never ends the process.
@Suite struct DamagedFileTests {
    static let whole = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel">
        <entity name="A" parentEntity="B"><attribute name="n" attributeType="Integer 16" defaultValueString="-32768"/>
        <relationship name="b" minCount="1" maxCount="1" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="n"/></uniquenessConstraint></uniquenessConstraints>
        </entity>
        <entity name="B"><relationship name="a" destinationEntity="A" inverseName="b" inverseEntity="A"/>
        <attribute name="d" attributeType="Decimal" defaultValueString="1.5" minValueString="0"/>
        <attribute name="p" attributeType="Composite" composite="P"/></entity>
        <composite name="P"><attribute name="x" attributeType="Double"/></composite>
        <fetchRequest name="f" entity="A" fetchLimit="3" resultType="1"/>
        <!-- a comment --></model>
        """

    @Test func everyPrefixIsReadOrRefused() {
        let bytes = Array(Self.whole.utf8)
        for count in 0..<bytes.count {
            expectThrows(ModelReaderError.self) {
                try ModelReader.read(data: Data(bytes.prefix(count)), name: "M")
            }
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func randomDamageIsReadOrRefused(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        let parts = Self.whole.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        let odd = ["", "0", "-1", "99999999999999999999", "1e999", "NaN", "A", "B", "P", "n", "YES", "\u{301}", "."]
        for _ in 0..<150 {
            var damaged = parts
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                damaged[place] = odd[Int.random(in: 0..<odd.count, using: &random)]
            }
            var bytes = Array(damaged.joined(separator: "\"").utf8)
            if Bool.random(using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do {
                let document = try ModelReader.read(data: Data(bytes), name: "M")
                do { try document.model.validate() } catch { Issue.record(error, "seed \(seed)") }
            } catch {
                #expect(!error.message.isEmpty, "seed \(seed)")
            }
        }
    }
}

/// A generator with a seed, so that a failure can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
