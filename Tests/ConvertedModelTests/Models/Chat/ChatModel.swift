import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Chat`.
    static let chat = ManagedObjectModel("Chat") {
        Item.self
        Message.self
        Room.self
        Sender.self
    }
}
