// Made by model-reset convert from the model Graph. Change the model, not this file.
// swift-format-ignore-file

import CoreDataSource
import Foundation

nonisolated extension ManagedObjectModel {
    /// The model `Graph`.
    static let graph = ManagedObjectModel("Graph") {
        Animal.self
        Attachment.self
        Cat.self
        Dog.self
        Folder.self
        Label.self
        Letter.self
        Passport.self
        Person.self
        Station.self
        Topic.self
        Tour.self
    }
}
