import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// What a model file says and this library does not do is said.
struct UnsupportedDeclarationTests {
    @Test(arguments: UnsupportedDeclaration.allCases) func eachIsReportedOnceWithWhatHappens(
        _ declaration: UnsupportedDeclaration
    ) throws {
        let model = try #require(UnsupportedModel.all["\(declaration)"])
        let document = try ModelReader.read(data: Data(model.contents.utf8), name: "Test")
        let messages = document.diagnostics.map(\.message)
        #expect(messages.count == 1, "\(messages)")
        #expect(messages.first?.hasSuffix(". " + declaration.effect.filter { $0 != "`" }) == true, "\(messages)")
        let kept = document.model.unsupportedParts
        #expect(kept.map(\.declaration) == (model.swift == nil ? [] : [declaration]))
        #expect(model.swift == nil || kept.map(\.message) == messages)
    }

    @Test func thePlaceIsNamedAndItsLine() throws {
        let document = try read(
            """
            <entity name="E">
            <attribute name="a" attributeType="String" optional="YES"/>
            <attribute name="b" attributeType="Integer 16" optional="YES" regularExpressionString="x"/>
            <relationship name="r" optional="YES" destinationEntity="E" spotlightIndexingEnabled="YES" storedInTruthFile="YES"/>
            </entity>
            <fetchRequest name="E" entity="E"
                predicateString="c == 1"/>
            <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="E"/></configuration>
            """)
        let found = document.diagnostics.map { "\($0.line) \($0.message.prefix { $0 != ":" })" }
        #expect(
            found.sorted()
                == ["10 The configuration Cloud", "5 E.b", "6 E.r", "6 E.r", "8 The fetch request E"].sorted()
        )
    }

    /// They are all known, and change nothing that is read from the model.
    @Test func hintsAreNotReported() throws {
        let model = try readPlainly(
            """
            <entity name="E" syncable="YES"><attribute name="a" attributeType="String" optional="YES" syncable="YES"/></entity>
            <fetchRequest name="f" entity="E" fetchBatchSize="20" includePropertyValues="NO" returnObjectsAsFaults="NO" \
            returnDistinctResults="NO"/>
            """, attributes: "usedWithSwiftData=\"YES\"")
        let plainModel = try readPlainly(
            """
            <entity name="E"><attribute name="a" attributeType="String" optional="YES"/></entity>
            <fetchRequest name="f" entity="E"/>
            """)
        #expect(model.entities == plainModel.entities && model.fetchRequests == plainModel.fetchRequests)
        #expect(model.hash == plainModel.hash)
    }

    @Test func aModelWithoutUnsupportedPartsHasNoWarning() throws {
        let model = try readPlainly(
            """
            <entity name="E"><attribute name="a" attributeType="URI" optional="YES" regularExpressionString="x" \
            allowsCloudEncryption="NO" spotlightIndexingEnabled="NO"/></entity>
            <fetchRequest name="f" entity="E" includesPendingChanges="YES" resultType="0"/>
            """, attributes: "usedWithCloudKit=\"NO\"")
        #expect(model.unsupportedParts.isEmpty)
    }
}
