import Foundation
import RowStore
import Testing

struct DecimalOrderTests {
    private func order(_ lhs: String, _ rhs: String) -> Int {
        Array(lhs.utf8).withUnsafeBytes { lhs in
            Array(rhs.utf8).withUnsafeBytes { orderDecimals(lhs, $0).signum() }
        }
    }

    @Test func everyPairIsInTheOrderOfItsValues() {
        let ascending = [
            "", "NaN", "one", "-1e3", "-999.5", "-10.5", "-10", "-1", "-0.5", "-0.05", "0", "1E-9", "0.049", "0.05",
            "0.3", "1", "1.0000000000000000000000000000000000000001", "9", "10", "10.5", "99.9", "1E+2", "100.1",
            "1e40",
        ]
        for (left, one) in ascending.enumerated() {
            for (right, other) in ascending.enumerated() {
                #expect(order(one, other) == (left - right).signum(), "\(one) \(other)")
            }
        }
    }

    @Test func spellingDoesNotMatter() {
        for spellings in [["1", "1.0", "01", "+1", "1e0", "0.1E1", "10E-1", "1."], ["0", "-0", "0.00", "0e9", ".0"]] {
            for one in spellings { for other in spellings { #expect(order(one, other) == 0, "\(one) \(other)") } }
        }
    }

    @Test func aStringThatIsNoNumberComesFirst() {
        for text in ["", "-", ".", "e", "1e", "1e+", "1.2.3", "1x", " 1", "--1"] {
            #expect(order(text, "-1E40") == -1, "\(text)")
        }
    }

    @Test func theOrderIsThatOfFoundation() throws {
        var state: UInt64 = 12345
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        for _ in 0..<2000 {
            let texts = (0..<2).map { _ in "\(next(2) == 0 ? "-" : "")\(next(2000)).\(next(100))" }
            let one = try #require(Decimal(string: texts[0]))
            let other = try #require(Decimal(string: texts[1]))
            #expect(order(texts[0], texts[1]) == (one < other ? -1 : one > other ? 1 : 0), "\(texts)")
        }
    }
}
